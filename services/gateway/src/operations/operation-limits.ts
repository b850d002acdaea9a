import { type DocumentNode, GraphQLError, Kind, type SelectionSetNode } from "graphql";
import { isIntrospection } from "./introspection-cost.ts";

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
}

/** Bounds the measuring itself, independently of the other limits. */
const visitedFieldsMax = 20_000;
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
}

function refuseAbove(code: string, what: string, found: number, max: number): void {
  if (found <= max) return;
  throw new GraphQLError(`The ${what} of this document is over the limit of ${max}.`, { extensions: { code } });
}

function measure(document: DocumentNode): Measures {
  const fragments = new Map<string, SelectionSetNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition.selectionSet);
  }
  const most: Measures = { depth: 0, aliases: 0, rootFields: 0, introspections: 0, directives: 0, fields: 0 };
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    // The work of measuring and validating is that of all operations together.
    const own = { ...most, depth: 0, aliases: 0, rootFields: 0, introspections: 0 };
    own.directives += definition.directives?.length ?? 0;
    walk(definition.selectionSet, 1, new Set(), fragments, own);
    most.depth = Math.max(most.depth, own.depth);
    most.aliases = Math.max(most.aliases, own.aliases);
    most.rootFields = Math.max(most.rootFields, own.rootFields);
    most.introspections = Math.max(most.introspections, own.introspections);
    most.directives = own.directives;
    most.fields = own.fields;
  }
  return most;
}

function walk(
  selections: SelectionSetNode,
  depth: number,
  spreading: ReadonlySet<string>,
  fragments: ReadonlyMap<string, SelectionSetNode>,
  measures: Measures,
): void {
  for (const selection of selections.selections) {
    measures.directives += selection.directives?.length ?? 0;
    if (++measures.fields > visitedFieldsMax) {
      throw new GraphQLError("This document selects too many fields.", { extensions: { code: "LIMIT_COST" } });
    }
    if (selection.kind === Kind.FIELD) {
      if (depth === 1) measures.rootFields++;
      if (depth === 1 && isIntrospection(selection)) measures.introspections++;
      if (selection.alias !== undefined) measures.aliases++;
      measures.depth = Math.max(measures.depth, depth);
      if (selection.selectionSet) walk(selection.selectionSet, depth + 1, spreading, fragments, measures);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      walk(selection.selectionSet, depth, spreading, fragments, measures);
    } else {
      const name = selection.name.value;
      const spread = fragments.get(name);
      // Validation, which refuses cycles and unknown fragments, runs later, so both must end here.
      if (spread === undefined || spreading.has(name)) continue;
      walk(spread, depth, new Set(spreading).add(name), fragments, measures);
    }
  }
}
