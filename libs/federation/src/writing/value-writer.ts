import { type GraphQLLeafType, type GraphQLOutputType, isEnumType, isListType, isNonNullType } from "graphql";
import { isAbsent, type Part, readItems } from "../planning/plan-scope.ts";
import type { Path } from "../subgraphs/missing.ts";
import type { Answer } from "./answer.ts";

/**
 * Writes a present value, given as the parts' values. Returns false when it cannot be written, and the caller truncates
 * the output.
 */
export type WriteValue = (answer: Answer, parts: Part[]) => boolean;

interface Item {
  readonly write: WriteValue;
  /** Translates a subgraph's path below an item to the client's names. */
  readonly pathsOf: (path: Path) => Path[];
}

/** Writes the lists of a type around its items. */
export function valueWriter(type: GraphQLOutputType, item: Item, subgraph: string): WriteValue {
  if (isNonNullType(type)) return valueWriter(type.ofType, item, subgraph);
  if (!isListType(type)) return item.write;
  const writeItem = valueWriter(type.ofType, item, subgraph);
  const isNullable = !isNonNullType(type.ofType);
  return (answer, parts) => {
    const list = parts.length === 1 ? parts[0] : parts.find((part) => !isAbsent(part));
    if (!Array.isArray(list)) {
      answer.flaw(subgraph, "a value is not a list");
      return false;
    }
    if (!answer.marks.areNone) for (const part of parts) reportItemErrors(answer, part, item);
    answer.text.add("[");
    // One list serves all items, because callers do not keep it.
    const items: Part[] = parts.map(() => undefined);
    for (let at = 0; at < list.length; at++) {
      answer.path.push(at);
      readItems(parts, at, items);
      if (at > 0) answer.text.add(",");
      const { lossCount, objects } = answer;
      const { length } = answer.text;
      let isWritten = false;
      const isThere = items.length === 1 ? !isAbsent(items[0]) : !items.every(isAbsent);
      if (isThere) isWritten = writeItem(answer, items);
      else if (!isNullable && !parts.some((part) => answer.marks.has(part, at)))
        answer.flaw(subgraph, "a required list item is missing");
      if (!isWritten) {
        answer.objects = objects;
        answer.text.cut(length);
        if (isNullable) answer.absorb(lossCount);
      }
      answer.path.pop();
      if (isWritten) continue;
      if (!isNullable) return false;
      answer.text.add("null");
    }
    answer.text.add("]");
    return true;
  };
}

function reportItemErrors(answer: Answer, list: Part, { pathsOf }: Item): void {
  for (const [at, errors] of answer.marks.of(list) ?? [])
    for (const { error, rest } of errors) for (const path of pathsOf([at, ...rest])) answer.addError(error, path);
}

export function leafItem(write: WriteLeaf, subgraph: string): WriteValue {
  return (answer, [value]) => {
    const text = write(value);
    if (text === null) answer.flaw(subgraph, "a value does not match its type");
    else answer.text.add(text);
    return text !== null;
  };
}

/** Writes a present value; null when its type does not allow it. */
type WriteLeaf = (value: unknown) => string | null;

export function leafWriter(type: GraphQLLeafType): WriteLeaf {
  if (isEnumType(type)) {
    const texts = new Map<unknown, string>(type.getValues().map(({ name }) => [name, `"${name}"`]));
    return (value) => texts.get(value) ?? null;
  }
  // Only the subgraphs know the format of a custom scalar.
  return builtIn[type.name] ?? ((value) => JSON.stringify(value));
}

const int32Min = -(2 ** 31);
const int32Max = 2 ** 31 - 1;

const isInt32 = (value: unknown) =>
  Number.isInteger(value) && (value as number) >= int32Min && (value as number) <= int32Max;

const writeString: WriteLeaf = (value) => (typeof value === "string" ? JSON.stringify(value) : null);

const builtIn: Readonly<Record<string, WriteLeaf>> = {
  String: writeString,
  Boolean: (value) => (typeof value === "boolean" ? String(value) : null),
  // A number from JSON is finite, and is written as JSON writes it.
  Float: (value) => (typeof value === "number" ? String(value) : null),
  Int: (value) => (isInt32(value) ? String(value) : null),
  ID: (value) => writeString(Number.isInteger(value) ? String(value) : value),
};
