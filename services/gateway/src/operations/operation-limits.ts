import { type DocumentNode, GraphQLError, Kind, type SelectionSetNode } from "graphql";

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
  directives: number;
  /** Fields after fragments are spread. Bounded, because fragments that spread fragments grow exponentially. */
  fields: number;
}

/** Bounds the measuring itself, independently of the other limits. */
const visitedFieldsMax = 20_000;

/**
 * Refuses a document above a limit with the limit's own code. Fragments count where they are spread, so hiding depth or
 * aliases in them gains nothing; `__schema` and `__type` get no exemption.
 */
export function assertWithinLimits(document: DocumentNode, limits: OperationLimits): void {
  const measures = measure(document);
  refuseAbove("LIMIT_DEPTH", "depth", measures.depth, limits.depthMax);
  refuseAbove("LIMIT_ALIASES", "number of aliases", measures.aliases, limits.aliasesMax);
  refuseAbove("LIMIT_ROOT_FIELDS", "number of root fields", measures.rootFields, limits.rootFieldsMax);
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
  const measures: Measures = { depth: 0, aliases: 0, rootFields: 0, directives: 0, fields: 0 };
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    measures.directives += definition.directives?.length ?? 0;
    walk(definition.selectionSet, 1, new Set(), fragments, measures);
  }
  return measures;
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
