import { type GraphQLLeafType, isEnumType } from "graphql";

/** Writes a present value; null when its type does not allow it. */
export type WriteLeaf = (value: unknown) => string | null;

export function leafWriter(type: GraphQLLeafType): WriteLeaf {
  if (isEnumType(type)) {
    const texts = new Map<unknown, string>(type.getValues().map(({ name }) => [name, `"${name}"`]));
    return (value) => texts.get(value) ?? null;
  }
  // Only the subgraphs know the format of a custom scalar.
  return builtIn[type.name] ?? ((value) => JSON.stringify(value));
}

const int32Max = 2 ** 31 - 1;

const writeString: WriteLeaf = (value) => (typeof value === "string" ? JSON.stringify(value) : null);

const builtIn: Readonly<Record<string, WriteLeaf>> = {
  String: writeString,
  Boolean: (value) => (typeof value === "boolean" ? String(value) : null),
  // A number from JSON is finite, and is written as JSON writes it.
  Float: (value) => (typeof value === "number" ? String(value) : null),
  Int: (value) => (Number.isInteger(value) && Math.abs(value as number) <= int32Max + 1 ? String(value) : null),
  ID: (value) => writeString(Number.isInteger(value) ? String(value) : value),
};
