import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from "graphql";
import type { OperationAnswer } from "../supergraph/supergraph.ts";

/** Cost of a mutation besides its objects. */
const mutationCost = 10;

interface Costed {
  readonly schema: GraphQLSchema;
  readonly fragments: Fragments;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Assumed length of a page without an explicit one. */
  readonly pageSize: number;
  /** Introspection is counted up to this cost. */
  readonly objectsMax: number;
  /** Called for each variable that the cost depends on. */
  readonly onLength?: (variable: string) => void;
}

/**
 * Estimates the cost of an operation before any fetch: an object 1, a leaf nothing, a mutation 10, the items of a page
 * multiplied by `first`, and those of another list by its assumed length (`@listSize`). Introspected objects count with
 * the true lengths of their lists. Skipped fields count too.
 */
export function estimateCost(costed: Costed): number {
  const { schema, operation, fragments } = costed;
  const root = schema.getRootType(operation.operation);
  return (
    costOfMutations(operation, fragments) + (root ? costOfSelections(costed, operation.selectionSet, root, null) : 0)
  );
}

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** Returns the cost of the mutations themselves. Those of fragments run like any others. */
function costOfMutations({ operation, selectionSet }: OperationDefinitionNode, fragments: Fragments): number {
  return operation === "mutation" ? mutationCost * [...fieldsIn(selectionSet, fragments)].length : 0;
}

/** Yields the fields of a selection, those of its fragments too, each with the condition of the fragment around it. */
function* fieldsIn(
  { selections }: SelectionSetNode,
  fragments: Fragments,
  condition?: string,
): Generator<readonly [node: FieldNode, condition: string | undefined]> {
  for (const selection of selections) {
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
    if (fragment?.kind === Kind.FIELD) yield [fragment, condition];
    else if (fragment)
      yield* fieldsIn(fragment.selectionSet, fragments, fragment.typeCondition?.name.value ?? condition);
  }
}

/** `pageLength` is the length of the enclosing page and multiplies its lists. */
function costOfSelections(
  costed: Costed,
  selectionSet: SelectionSetNode,
  type: GraphQLNamedType,
  pageLength: number | null,
): number {
  let cost = 0;
  for (const [node, condition] of fieldsIn(selectionSet, costed.fragments))
    cost += costOfField(costed, node, costed.schema.getType(condition ?? "") ?? type, pageLength);
  return cost;
}

function costOfField(costed: Costed, node: FieldNode, parent: GraphQLNamedType, pageLength: number | null): number {
  if (isIntrospection(node)) return introspectionCost(costed, node);
  const field = fieldOf(parent, node.name.value);
  const type = field && getNamedType(field.type);
  if (!type || !node.selectionSet || !isCompositeType(type)) return 0;
  const isPage = field.args.some(({ name }) => name === "first");
  const own = 1 + costOfSelections(costed, node.selectionSet, type, isPage ? lengthOf(costed, node) : null);
  return isListType(getNullableType(field.type)) ? own * (pageLength ?? assumedSize(field)) : own;
}

const assumedSize = ({ extensions }: GraphQLField<unknown, unknown>): number =>
  typeof extensions.assumedSize === "number" ? extensions.assumedSize : 1;

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

const introspectionFields = Object.fromEntries(
  [SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, field]),
);

export const isIntrospection = ({ name }: FieldNode): boolean => Object.hasOwn(introspectionFields, name.value);

/** No introspected object is fetched or judged: so many cost as much as another one. */
const introspectedPerObject = 10;

/**
 * Counts the objects that `__schema` or `__type` answers with: lists have the true lengths of the schema. The walk stops
 * above `objectsMax`: to refuse an operation must cost less than to run it.
 */
function introspectionCost({ schema, fragments, variables, objectsMax, onLength }: Costed, root: FieldNode): number {
  let count = 0;
  const countMax = objectsMax * introspectedPerObject;

  function visit(node: FieldNode, parent: ReturnType<GraphQLObjectType["getFields"]>, source: unknown): void {
    const definition = parent[node.name.value];
    const type = definition && getNamedType(definition.type);
    if (!definition || !isObjectType(type) || !node.selectionSet) return;
    for (const { value } of node.arguments ?? []) if (value.kind === Kind.VARIABLE) onLength?.(value.name.value);
    const given = getArgumentValues(definition, node, variables);
    // The resolvers of introspection read the schema and nothing else of the operation.
    const found: unknown = definition.resolve?.(source, given, null, { schema } as GraphQLResolveInfo);
    for (const item of Array.isArray(found) ? found : [found]) {
      if (item === null || item === undefined) continue;
      count++;
      for (const [inner] of fieldsIn(node.selectionSet, fragments)) {
        if (count > countMax) return;
        visit(inner, type.getFields(), item);
      }
      if (count > countMax) return;
    }
  }

  visit(root, introspectionFields, undefined);
  return Math.ceil(count / introspectedPerObject);
}

/** Computes the actual cost of an operation: the objects of its answer, and its mutations. */
export function actualCost(
  operation: OperationDefinitionNode,
  fragments: Fragments,
  { objects, introspected = 0 }: OperationAnswer,
): number {
  // The answer itself is not a requested object.
  const requested = objects - 1 + Math.ceil(introspected / introspectedPerObject);
  return Math.max(0, costOfMutations(operation, fragments) + requested);
}

export function fragmentsOf({ definitions }: DocumentNode): Fragments {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
}
