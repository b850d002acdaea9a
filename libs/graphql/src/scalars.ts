import { type DocumentNode, GraphQLError, GraphQLScalarType, Kind, type ValueNode, valueFromASTUntyped } from "graphql";

const dateTime = new GraphQLScalarType<Date, string>({
  name: "DateTime",
  serialize: (value) => (value instanceof Date ? value : dateFrom(String(value))).toISOString(),
  parseValue: (value) => dateFrom(String(value)),
  parseLiteral: (node: ValueNode) => {
    if (node.kind !== Kind.STRING) throw new GraphQLError("A DateTime is written as a string.");
    return dateFrom(node.value);
  },
});

const json = new GraphQLScalarType<unknown, unknown>({
  name: "JSON",
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
});

const sharedScalars: Readonly<Record<string, GraphQLScalarType>> = { DateTime: dateTime, JSON: json };

/** The resolvers of those shared scalars that a schema declares. */
export function scalarResolversOf(typeDefs: DocumentNode): Record<string, GraphQLScalarType> {
  const declared = typeDefs.definitions.flatMap((definition) =>
    definition.kind === Kind.SCALAR_TYPE_DEFINITION ? [definition.name.value] : [],
  );
  return Object.fromEntries(
    declared.flatMap((name) => {
      const scalar = sharedScalars[name];
      return scalar === undefined ? [] : [[name, scalar]];
    }),
  );
}

function dateFrom(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new GraphQLError(`"${text.slice(0, 40)}" is not a DateTime.`);
  return date;
}
