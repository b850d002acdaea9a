import { Missing } from "../running/missing.ts";

/** Where the members of an object come from: an object in the answer of one fetch. */
interface Source {
  /** The fetch, for whoever has to say what a wrong value came from. */
  readonly fetch: number;
  /** Under which name the object of the scope above, or the entity itself, has it. */
  readonly name: string;
  /** Null where the fetch was made for this very object, whose link it is. */
  readonly above: Source | null;
  /** Its place among the objects of the scope. */
  at: number;
}

/**
 * One place of the answer. An object there is spread over the answers of all fetches that brought a part of it. A part that
 * came with the object around it is a base; a part that was fetched for the object itself hangs on a base as a link.
 */
export class PlanScope {
  readonly #bases: Source[] = [];
  readonly #links: Source[] = [];
  readonly #children = new Map<string, PlanScope>();
  readonly #fields = new Map<string, Source[]>();
  /** The same as places, when all are known. */
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

  /** Gives each source its place, when all are known. */
  settle(): void {
    for (const [at, source] of [...this.#bases, ...this.#links].entries()) source.at = at;
    for (const [name, sources] of this.#fields)
      this.#places.set(
        name,
        sources.map(({ at }) => at),
      );
    for (const child of this.#children.values()) child.settle();
  }

  /** Places of the parts that may have a field. */
  placesOf(name: string): readonly number[] {
    return this.#places.get(name) ?? nowhere;
  }

  /** The fetch behind the first part that may have a field. */
  fetchOf(name: string): number | null {
    return this.#fields.get(name)?.[0]?.fetch ?? null;
  }

  /** Reads what each base of an object has, from the parts of the object above. */
  readBases(name: string, above: Parts): Part[] {
    return this.#children.get(name)?.readOwnBases(above) ?? [];
  }

  /** The same, of the scope below. */
  readOwnBases(above: Parts): Part[] {
    const bases = this.#bases;
    const read = new Array<Part>(bases.length);
    for (let at = 0; at < bases.length; at++) {
      const base = bases[at] as Source;
      const part = above[base.above?.at ?? 0];
      // What was lost has lost all that is below it.
      read[at] = part instanceof Missing ? part : memberOf(part, base.name);
    }
    return read;
  }

  /** All parts of an object: its bases, and what was fetched for it. */
  withLinks(bases: Part[]): Parts {
    const links = this.#links;
    const count = bases.length;
    if (links.length === 0) return bases;
    const parts = new Array<Part>(count + links.length);
    for (let at = 0; at < count; at++) parts[at] = bases[at];
    for (let at = 0; at < links.length; at++) parts[count + at] = linkOn(bases, (links[at] as Source).name);
    return parts;
  }

  /** Tells whether a field may come from a link. */
  isFromLink(field: string, name: string): boolean {
    return this.#fields.get(field)?.some((source) => source.above === null && source.name === name) ?? false;
  }

  /** Of the object at the root, which has no base but itself. */
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

/** A part of an object, as JSON.parse made it; what is no object is refused by whoever reads it. */
export type Part = unknown;
export type Parts = readonly Part[];

/** No name of GraphQL begins with a dollar, so a link meets no member. */
export const linkName = (fetch: number): string => `$${fetch}`;

/** Of what has come of an object, the base on which a link is hung. Others may come later, so a link is looked for on all. */
export function hostOf(bases: Parts): Part {
  for (const base of bases) if (isObject(base) && !(base instanceof Missing)) return base;
}

/** Null on one base says only that nothing was fetched for it there. */
function linkOn(bases: Parts, name: string): unknown {
  for (const base of bases) {
    const link = isAbsent(base) ? undefined : memberOf(base, name);
    if (link !== undefined && link !== null) return link;
  }
}

/** The list among what the parts have of a list, if there is one. */
export function listOf(parts: Parts): readonly Part[] | undefined {
  for (const part of parts) if (Array.isArray(part)) return part;
}

/** Reads what each part has of an item into `items`. */
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
