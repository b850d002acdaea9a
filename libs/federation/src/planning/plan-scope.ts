import { Missing } from "../subgraphs/missing.ts";

/** The origin of an object's members: an object in the answer of one fetch. */
interface Source {
  readonly fetch: number;
  /** Name of the member in the object of the scope above, or in the entity itself. */
  readonly name: string;
  /** Null when the fetch was made for this very object and linked to it. */
  readonly above: Source | null;
  /** Index among the objects of the scope. */
  at: number;
}

/**
 * One place of the answer. Its object is spread over the answers of all fetches that contributed a part. A part that
 * came with the surrounding object is a base; a part that was fetched for the object itself is linked to a base.
 */
export class PlanScope {
  readonly #bases: Source[] = [];
  readonly #links: Source[] = [];
  readonly #children = new Map<string, PlanScope>();
  readonly #fields = new Map<string, Source[]>();
  /** The same as indexes, once all sources are known. */
  readonly #places = new Map<string, readonly number[]>();

  child(name: string): PlanScope | undefined {
    return this.#children.get(name);
  }

  belowField(name: string): PlanScope {
    const known = this.#children.get(name);
    if (known) return known;
    const child = new PlanScope();
    this.#children.set(name, child);
    return child;
  }

  addBase(above: Source, name: string): Source {
    return add(this.#bases, { fetch: above.fetch, name, above, at: 0 });
  }

  addLink(fetch: number): Source {
    return add(this.#links, { fetch, name: linkName(fetch), above: null, at: 0 });
  }

  addField(name: string, source: Source): void {
    const sources = this.#fields.get(name) ?? [];
    this.#fields.set(name, sources);
    if (!sources.includes(source)) sources.push(source);
  }

  /** Assigns each source its index, once all are known. */
  settle(): void {
    for (const [at, source] of [...this.#bases, ...this.#links].entries()) source.at = at;
    for (const [name, sources] of this.#fields)
      this.#places.set(
        name,
        sources.map(({ at }) => at),
      );
    for (const child of this.#children.values()) child.settle();
  }

  /** Returns true for the path of a field in this scope or below, through lists. */
  has([name, ...rest]: readonly (string | number)[]): boolean {
    if (name === undefined) return true;
    if (typeof name === "number") return this.has(rest);
    const isAsked = this.#fields.has(name);
    return isAsked && (this.#children.get(name)?.has(rest) ?? !rest.some((part) => typeof part === "string"));
  }

  /** Returns the indexes of the parts that may have a field. */
  placesOf(name: string): readonly number[] {
    return this.#places.get(name) ?? nowhere;
  }

  /** Returns the fetch of the first part that may have a field. */
  fetchOf(name: string): number | null {
    return this.#fields.get(name)?.[0]?.fetch ?? null;
  }

  /** Reads the bases of a member from the parts of the object above. */
  readBases(name: string, above: Parts): Part[] {
    return this.#children.get(name)?.readOwnBases(above) ?? [];
  }

  /** The same, in the scope below. */
  readOwnBases(above: Parts): Part[] {
    const bases = this.#bases;
    const read = new Array<Part>(bases.length);
    for (let at = 0; at < bases.length; at++) {
      const base = bases[at] as Source;
      const part = above[base.above?.at ?? 0];
      // A lost part has lost all of its members.
      read[at] = part instanceof Missing ? part : memberOf(part, base.name);
    }
    return read;
  }

  /** Returns all parts of an object: its bases, and the parts fetched for it. */
  withLinks(bases: Part[]): Parts {
    const links = this.#links;
    const count = bases.length;
    if (links.length === 0) return bases;
    const parts = new Array<Part>(count + links.length);
    for (let at = 0; at < count; at++) parts[at] = bases[at];
    for (let at = 0; at < links.length; at++) parts[count + at] = linkOn(bases, (links[at] as Source).name);
    return parts;
  }

  /** Returns true when a field may come from a link. */
  isFromLink(field: string, name: string): boolean {
    return this.#fields.get(field)?.some((source) => source.above === null && source.name === name) ?? false;
  }

  /** Returns the parts of the root object, whose only base is itself. */
  rootParts(root: Part): Parts {
    return this.#links.map(({ name }) => memberOf(root, name));
  }
}

const nowhere: readonly number[] = [];

function add(sources: Source[], source: Source): Source {
  const known = sources.find(({ above, name }) => above === source.above && name === source.name);
  if (known) return known;
  sources.push(source);
  return source;
}

/** A parsed JSON value that should be an object. Readers validate it. */
export type Part = unknown;
export type Parts = readonly Part[];

/** GraphQL names never begin with a dollar, so a link cannot collide with a member. */
export const linkName = (fetch: number): string => `$${fetch}`;

/** Returns the base to which a link is attached. Later bases may arrive, so a link is looked for on all of them. */
export function hostOf(bases: Parts): Part {
  for (const base of bases) if (isObject(base) && !(base instanceof Missing)) return base;
}

/** Null on one base only means that no part was fetched for it there. */
function linkOn(bases: Parts, name: string): unknown {
  for (const base of bases) {
    const link = isAbsent(base) ? undefined : memberOf(base, name);
    if (link !== undefined && link !== null) return link;
  }
}

/** Returns the list among the parts, if any. */
export function listOf(parts: Parts): readonly Part[] | undefined {
  for (const part of parts) if (Array.isArray(part)) return part;
}

/** Reads each part's value of a list item into `items`. */
export function readItems(parts: Parts, at: number, items: Part[]): void {
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index];
    items[index] = part instanceof Missing ? part : (part as Part[] | null | undefined)?.[at];
  }
}

export const isAbsent = (part: Part): boolean => part === undefined || part === null || part instanceof Missing;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

export function memberOf(part: Part, name: string): unknown {
  return isObject(part) ? part[name] : undefined;
}
