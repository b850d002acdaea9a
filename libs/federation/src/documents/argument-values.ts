import {
  type ArgumentNode,
  type GraphQLArgument,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  print,
  type ValueNode,
} from "graphql";

/** A variable of a canonical operation, and the value that the client wrote for it. */
export interface CanonicalVariable {
  readonly name: string;
  readonly type: string;
  readonly value: ValueNode;
}

/** The arguments of a field as a text that is the same for the same values. */
export function printArguments(given: readonly ArgumentNode[] | undefined): string {
  if (given === undefined || given.length === 0) return "";
  return given
    .map((argument) => `${argument.name.value}:${print(argument.value)}`)
    .sort()
    .join();
}

/** The type of the variable that stands for an argument: one with a default may be left out. */
export function variableTypeOf({ type, defaultValue }: GraphQLArgument): string {
  return String(defaultValue !== undefined && isNonNullType(type) ? type.ofType : type);
}

export type Variables = Readonly<Record<string, unknown>>;

/**
 * The values of a canonical operation's variables, as JSON. A variable that the client left out, and that has no default, is
 * left out here too: the argument then has its own default.
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

/** The value as JSON, undefined where it is a variable that has none. An id keeps all of its digits as a string. */
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

/** For the compiler: an argument of an unknown type would be a document that was not validated. */
export function argumentNamed(args: readonly GraphQLArgument[], name: string): GraphQLArgument {
  const found = args.find((argument) => argument.name === name);
  if (!found) throw new Error(`no argument ${name}`);
  return found;
}
