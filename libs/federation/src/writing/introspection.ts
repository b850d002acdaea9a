import {
  type DocumentNode,
  executeSync,
  type FieldNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from "graphql";
import type { Variables } from "../documents/argument-values.ts";

/** Resolves `__schema` and `__type` from the schema itself. */
export function createIntrospection(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variableValues: Variables,
) {
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  return (field: FieldNode): unknown => {
    const selectionSet = { kind: Kind.SELECTION_SET, selections: [field] } as const;
    const asked: DocumentNode = { kind: Kind.DOCUMENT, definitions: [{ ...operation, selectionSet }, ...fragments] };
    const { data } = executeSync({ schema, document: asked, variableValues });
    return data?.[field.alias?.value ?? field.name.value] ?? null;
  };
}

export function objectsIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = Array.isArray(value) ? 0 : 1;
  for (const member of Object.values(value)) count += objectsIn(member);
  return count;
}
