import { type DocumentNode, Kind, type SelectionSetNode, visit } from "graphql";
import { graphError } from "../documents/graph-error.ts";
import { type Fragments, fragmentsOf, isIntrospection } from "./operation-cost.ts";

/** The static limits of a document (CONTRACT §8), checked before any planning or fetch. */
export interface OperationLimits {
  readonly depthMax: number;
  readonly aliasesMax: number;
  readonly rootFieldsMax: number;
  readonly directivesMax: number;
}

interface Measures {
  depth: number;
  aliases: number;
  rootFields: number;
  /** `__schema` and `__type`. */
  introspections: number;
  directives: number;
  /** Fields after fragments are spread. Bounded, because fragments that spread fragments grow exponentially. */
  fields: number;
  /** Pairs of fields with one response name, and of fragments, in one place: validation compares each with each other. */
  pairs: number;
}

/** Counts the response names, and the fragments, of one place of the answer. */
class Place {
  readonly #counts = new Map<string, number>();
  readonly #below = new Map<string, Place>();

  /** Counts one more, and returns the number of those before it. */
  add(name: string): number {
    const count = this.#counts.get(name) ?? 0;
    this.#counts.set(name, count + 1);
    return count;
  }

  below(name: string): Place {
    const known = this.#below.get(name) ?? new Place();
    this.#below.set(name, known);
    return known;
  }
}

/** Bounds the measuring itself, independently of the other limits. */
const visitedFieldsMax = 20_000;
/** One field two hundred times. Validation takes 10 to 20 ms for so many, and the next document waits. */
const pairsMax = 20_000;
/** Each combination of their values is a shape of its own, with its own plan: 256. */
const conditionsMax = 8;
/** Each may answer with the whole schema, and tools ask for one. */
const introspectionsMax = 1;

/**
 * Refuses a document above a limit with the limit's own code. Fragments count where they are spread, so hiding depth or
 * aliases in them gains nothing; `__schema` and `__type` get no exemption. Only one operation of a document runs, so
 * each is measured by itself.
 */
export function assertWithinLimits(document: DocumentNode, limits: OperationLimits): void {
  const measures = measure(document);
  refuseAbove("LIMIT_DEPTH", "depth", measures.depth, limits.depthMax);
  refuseAbove("LIMIT_ALIASES", "number of aliases", measures.aliases, limits.aliasesMax);
  refuseAbove("LIMIT_ROOT_FIELDS", "number of root fields", measures.rootFields, limits.rootFieldsMax);
  refuseAbove("LIMIT_ROOT_FIELDS", "number of introspection fields", measures.introspections, introspectionsMax);
  refuseAbove("LIMIT_DIRECTIVES", "number of directives", measures.directives, limits.directivesMax);
  refuseAbove("LIMIT_DIRECTIVES", "number of variables in @skip and @include", conditionsIn(document), conditionsMax);
}

/** Counts the variables on which the shape of the document depends. */
function conditionsIn(document: DocumentNode): number {
  const found = new Set<string>();
  visit(document, {
    Directive({ name, arguments: given = [] }) {
      if (name.value !== "skip" && name.value !== "include") return;
      for (const { value } of given) if (value.kind === Kind.VARIABLE) found.add(value.name.value);
    },
  });
  return found.size;
}

function refuseAbove(code: string, what: string, found: number, max: number): void {
  if (found > max) throw graphError(code, `The ${what} in this document is over the limit of ${max}.`);
}

function measure(document: DocumentNode): Measures {
  const fragments = fragmentsOf(document);
  const most: Measures = { depth: 0, aliases: 0, rootFields: 0, introspections: 0, directives: 0, fields: 0, pairs: 0 };
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    // The work of measuring and validating is that of all operations together.
    const own = { ...most, depth: 0, aliases: 0, rootFields: 0, introspections: 0 };
    own.directives += definition.directives?.length ?? 0;
    walk(definition.selectionSet, { depth: 1, place: new Place(), spreading: new Set() }, fragments, own);
    for (const name of ["depth", "aliases", "rootFields", "introspections"] as const)
      own[name] = Math.max(own[name], most[name]);
    Object.assign(most, own);
  }
  return most;
}

interface Position {
  readonly depth: number;
  readonly place: Place;
  /** Names of the fragments around it. */
  readonly spreading: ReadonlySet<string>;
}

function walk({ selections }: SelectionSetNode, at: Position, fragments: Fragments, measures: Measures): void {
  const { depth, place, spreading } = at;
  for (const selection of selections) {
    measures.directives += selection.directives?.length ?? 0;
    if (++measures.fields > visitedFieldsMax) throw tooMany("selects too many fields");
    const responseName = selection.kind === Kind.FIELD ? (selection.alias ?? selection.name).value : "...";
    if (selection.kind !== Kind.INLINE_FRAGMENT) measures.pairs += place.add(responseName);
    if (measures.pairs > pairsMax) throw tooMany("repeats fields or fragments too often");
    if (selection.kind === Kind.FIELD) {
      if (depth === 1) measures.rootFields++;
      if (depth === 1 && isIntrospection(selection)) measures.introspections++;
      if (selection.alias !== undefined) measures.aliases++;
      measures.depth = Math.max(measures.depth, depth);
      if (!selection.selectionSet) continue;
      const below = { depth: depth + 1, place: place.below(responseName), spreading };
      walk(selection.selectionSet, below, fragments, measures);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      walk(selection.selectionSet, at, fragments, measures);
    } else {
      const name = selection.name.value;
      const spread = fragments.get(name);
      // Validation, which refuses cycles and unknown fragments, runs later, so both must end here.
      if (spread === undefined || spreading.has(name)) continue;
      walk(spread.selectionSet, { ...at, spreading: new Set(spreading).add(name) }, fragments, measures);
    }
  }
}

const tooMany = (what: string) => graphError("LIMIT_COST", `This document ${what}.`);
