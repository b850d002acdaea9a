import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";
import { introspectionCost, isIntrospection } from "./introspection-cost.ts";

/** Cost of a mutation besides its objects. */
const mutationCost = 10;

interface Costed {
  readonly schema: GraphQLSchema;
  readonly fragments: Fragments;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Assumed length of a page without an explicit one. */
  readonly pageSize: number;
  /** Introspection is counted up to this number of objects. */
  readonly objectsMax: number;
  /** Called for each variable that a length was read from. */
  readonly onLength?: (variable: string) => void;
}

/**
 * Estimates the cost of an operation before any fetch: an object 1, a leaf nothing, a mutation 10, and the items of a
 * page multiplied by `first`. Introspected objects count with the true lengths of their lists. Skipped fields count
 * too.
 */
export function estimateCost(costed: Costed): number {
  const { schema, operation, fragments } = costed;
  const root = schema.getRootType(operation.operation);
  return (
    costOfMutations(operation, fragments) + (root ? costOfSelections(costed, operation.selectionSet, root, null) : 0)
  );
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** Returns the cost of the mutations themselves. Those of fragments run like any others. */
function costOfMutations({ operation, selectionSet }: OperationDefinitionNode, fragments: Fragments): number {
  return operation === "mutation" ? mutationCost * fieldsIn(selectionSet, fragments) : 0;
}

function fieldsIn({ selections }: SelectionSetNode, fragments: Fragments): number {
  let count = 0;
  for (const selection of selections) {
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
    if (fragment?.kind === Kind.FIELD) count++;
    else if (fragment) count += fieldsIn(fragment.selectionSet, fragments);
  }
  return count;
}

/** `pageLength` is the length of the enclosing page and multiplies its lists. */
function costOfSelections(
  costed: Costed,
  { selections }: SelectionSetNode,
  type: GraphQLNamedType,
  pageLength: number | null,
): number {
  let cost = 0;
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) cost += costOfField(costed, selection, type, pageLength);
    else {
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? costed.fragments.get(selection.name.value) : selection;
      const name = fragment?.typeCondition?.name.value;
      const narrowed = name === undefined ? type : (costed.schema.getType(name) ?? type);
      if (fragment) cost += costOfSelections(costed, fragment.selectionSet, narrowed, pageLength);
    }
  }
  return cost;
}

function costOfField(costed: Costed, node: FieldNode, parent: GraphQLNamedType, pageLength: number | null): number {
  if (isIntrospection(node)) return introspectionCost({ ...costed, onVariable: costed.onLength }, node);
  const field = fieldOf(parent, node.name.value);
  const type = field && getNamedType(field.type);
  if (!type || !node.selectionSet || !isCompositeType(type)) return 0;
  const isPage = field.args.some(({ name }) => name === "first");
  const own = 1 + costOfSelections(costed, node.selectionSet, type, isPage ? lengthOf(costed, node) : null);
  return isListType(getNullableType(field.type)) ? own * (pageLength ?? 1) : own;
}

function fieldOf(parent: GraphQLNamedType, name: string) {
  return isObjectType(parent) || isInterfaceType(parent) ? (parent as GraphQLObjectType).getFields()[name] : undefined;
}

function lengthOf({ variables, pageSize, onLength }: Costed, node: FieldNode): number {
  const given = node.arguments?.find(({ name }) => name.value === "first")?.value;
  if (given?.kind === Kind.VARIABLE) onLength?.(given.name.value);
  const value = given?.kind === Kind.VARIABLE ? variables[given.name.value] : given?.kind === Kind.INT && given.value;
  // A length below 1 is refused by the service, and must not reduce the estimate.
  return typeof value === "number" || typeof value === "string" ? Math.max(1, Number(value)) : pageSize;
}

/** Computes the actual cost of an operation: the objects of its answer, and its mutations. */
export function actualCost(operation: OperationDefinitionNode, fragments: Fragments, objects: number): number {
  // The answer itself is not a requested object.
  return Math.max(0, costOfMutations(operation, fragments) + objects - 1);
}

/** Returns the fragments of a document by their names. */
export function fragmentsOf({ definitions }: DocumentNode): Fragments {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
}
