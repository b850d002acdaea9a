import {
  type ArgumentNode,
  type GraphQLArgument,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  print,
  type ValueNode,
} from "graphql";
import { sortValueNode } from "graphql/utilities/sortValueNode.js";

/** A variable of a canonical operation, with the client's value. */
export interface CanonicalVariable {
  readonly name: string;
  readonly type: string;
  readonly value: ValueNode;
}

/**
 * Prints the arguments of a field as a text that is equal for equal values: arguments and members of input objects are
 * unordered (GraphQL §2.6, §2.9.8). Validation compares them by the same order of members.
 */
export function printArguments(given: readonly ArgumentNode[] | undefined): string {
  if (given === undefined || given.length === 0) return "";
  return given
    .map((argument) => `${argument.name.value}:${print(sortValueNode(argument.value))}`)
    .sort()
    .join();
}

/** Returns the type of an argument's variable: optional for an argument with a default. */
export function variableTypeOf({ type, defaultValue }: GraphQLArgument): string {
  return String(defaultValue !== undefined && isNonNullType(type) ? type.ofType : type);
}

export type Variables = Readonly<Record<string, unknown>>;

/**
 * Returns the values of a canonical operation's variables, as JSON. A variable that the client omitted, and that has no
 * default, is omitted too: the argument then has its own default.
 */
export function variableTexts(
  variables: readonly CanonicalVariable[],
  operation: OperationDefinitionNode,
  given: Variables,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { name, type, value } of variables) {
    const text = jsonOf(value, { operation, given }, isId(type));
    if (text !== undefined) texts.set(name, text);
  }
  return texts;
}

const isId = (type: string) => /^\[*ID[!\]]*$/.test(type);

interface Given {
  readonly operation: OperationDefinitionNode;
  readonly given: Variables;
}

/** Returns the value as JSON; undefined for a variable without a value. An id keeps all of its digits as a string. */
function jsonOf(node: ValueNode, from: Given, asId = false): string | undefined {
  switch (node.kind) {
    case Kind.VARIABLE:
      return ofVariable(node.name.value, from, asId);
    case Kind.NULL:
      return "null";
    case Kind.INT:
      return asId ? JSON.stringify(node.value) : node.value;
    case Kind.FLOAT:
    case Kind.BOOLEAN:
      return String(node.value);
    case Kind.STRING:
    case Kind.ENUM:
      return JSON.stringify(node.value);
    case Kind.LIST:
      return `[${node.values.map((item) => jsonOf(item, from, asId) ?? "null").join()}]`;
    case Kind.OBJECT:
      return `{${node.fields
        .map(({ name, value }) => [name.value, jsonOf(value, from)])
        .filter(([, text]) => text !== undefined)
        .map(([name, text]) => `${JSON.stringify(name)}:${text}`)
        .join()}}`;
  }
}

function ofVariable(name: string, from: Given, asId: boolean): string | undefined {
  const { operation, given } = from;
  if (Object.hasOwn(given, name) && given[name] !== undefined) return JSON.stringify(given[name]);
  const declared = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name);
  return declared?.defaultValue && jsonOf(declared.defaultValue, from, asId);
}

/** Satisfies the compiler: validation has already excluded unknown arguments. */
export function argumentNamed(args: readonly GraphQLArgument[], name: string): GraphQLArgument {
  const found = args.find((argument) => argument.name === name);
  if (!found) throw new Error(`no argument ${name}`);
  return found;
}
