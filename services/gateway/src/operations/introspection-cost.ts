import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from "graphql";

interface Introspecting {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The walk stops above this number: to refuse an operation must cost less than to run it. */
  readonly objectsMax: number;
  /** Called for each variable that the result depends on. */
  readonly onVariable?: ((variable: string) => void) | undefined;
}

const rootFields = new Map([SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, field]));

export const isIntrospection = ({ name }: FieldNode): boolean => rootFields.has(name.value);

/** Counts the objects that `__schema` or `__type` answers with: lists have the true lengths of the schema. */
export function introspectionCost(introspecting: Introspecting, node: FieldNode): number {
  const { schema, fragments, variables, objectsMax, onVariable } = introspecting;
  let count = 0;

  function visitField(field: FieldNode, parent: Fields, source: unknown): void {
    const definition = parent[field.name.value];
    const type = definition && getNamedType(definition.type);
    if (!definition || !isObjectType(type) || !field.selectionSet) return;
    for (const { value } of field.arguments ?? []) if (value.kind === Kind.VARIABLE) onVariable?.(value.name.value);
    const given = getArgumentValues(definition, field, variables);
    // The resolvers of introspection read the schema and nothing else of the operation.
    const found: unknown = definition.resolve?.(source, given, null, { schema } as GraphQLResolveInfo);
    for (const item of Array.isArray(found) ? found : [found]) {
      if (item === null || item === undefined) continue;
      count++;
      visit(field.selectionSet, type.getFields(), item);
      if (count > objectsMax) return;
    }
  }

  function visit({ selections }: SelectionSetNode, fields: Fields, source: unknown): void {
    for (const selection of selections) {
      if (count > objectsMax) return;
      if (selection.kind === Kind.FIELD) visitField(selection, fields, source);
      else {
        const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
        if (fragment) visit(fragment.selectionSet, fields, source);
      }
    }
  }

  visitField(node, Object.fromEntries(rootFields), undefined);
  return count;
}

type Fields = ReturnType<GraphQLObjectType["getFields"]>;
