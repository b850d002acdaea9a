import { type GraphQLObjectType, type GraphQLSchema, isObjectType, Kind } from "graphql";

/**
 * Gives the assumed lengths of lists (`@listSize` in the supergraph) to the fields of the public schema, as
 * `assumedSize` among their extensions.
 */
export function takeListSizes(schema: GraphQLSchema, supergraph: GraphQLSchema): void {
  for (const [name, type] of Object.entries(schema.getTypeMap())) {
    const composed = supergraph.getType(name);
    if (!isObjectType(type) || !isObjectType(composed)) continue;
    for (const field of Object.values(type.getFields())) {
      const size = sizeOf(composed, field.name);
      if (size !== null) field.extensions = { ...field.extensions, assumedSize: size };
    }
  }
}

function sizeOf(type: GraphQLObjectType, field: string): number | null {
  const directives = type.getFields()[field]?.astNode?.directives ?? [];
  const given = directives.find(({ name }) => name.value === "listSize")?.arguments ?? [];
  const size = given.find(({ name }) => name.value === "assumedSize")?.value;
  return size?.kind === Kind.INT ? Number(size.value) : null;
}
