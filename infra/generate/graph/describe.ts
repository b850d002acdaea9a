import { type DefinitionNode, type FieldDefinitionNode, Kind, type NameNode, type StringValueNode } from "graphql";
import { plural } from "./members.ts";
import { isTypeNode, type TypeNode } from "./nodes.ts";
import { usualArguments, usualFields, usualTypes, usualValues } from "./usual-texts.ts";

/** Gives its usual text to each type, member, argument and value of a schema that has none of its own. */
export function describe(definitions: readonly DefinitionNode[]): DefinitionNode[] {
  const users = usersOf(definitions);
  return definitions.map((node): DefinitionNode => {
    if (node.kind === Kind.ENUM_TYPE_DEFINITION) {
      const owner = node.name.value;
      const values = node.values?.map((value) =>
        withText(value, usualValues[`${owner}.${value.name.value}`] ?? usualValues[value.name.value]),
      );
      return withText({ ...node, ...(values && { values }) }, usualTypes[owner]);
    }
    if (!isTypeNode(node)) return node;
    const fields = (node.fields ?? []).map((field) => describeField(node, field));
    return withText({ ...node, fields }, textOfType(node, users));
  });
}

interface Described {
  readonly name: NameNode;
  readonly description?: StringValueNode | undefined;
}

function withText<Node extends Described>(node: Node, text: string | undefined): Node {
  if (node.description || text === undefined) return node;
  return { ...node, description: { kind: Kind.STRING, value: text, block: false } };
}

function describeField(parent: TypeNode, field: FieldDefinitionNode): FieldDefinitionNode {
  const args = field.arguments?.map((argument) => {
    const name = argument.name.value;
    return withText(argument, name === "id" ? `The id of the ${subjectOf(parent, field)}.` : usualArguments[name]);
  });
  return withText({ ...field, ...(args && { arguments: args }) }, textOfField(parent.name.value, field));
}

/** Lists the mutations that answer with a payload, or that take an input. */
function usersOf(definitions: readonly DefinitionNode[]): ReadonlyMap<string, string[]> {
  const users = new Map<string, string[]>();
  const mutation = definitions.find((node) => isTypeNode(node) && node.name.value === "Mutation") as
    | TypeNode
    | undefined;
  for (const { name, type, arguments: given = [] } of mutation?.fields ?? [])
    for (const used of [type, ...given.map((one) => one.type)].map(namedOf))
      users.set(used, [...(users.get(used) ?? []), `\`${name.value}\``]);
  return users;
}

function textOfType({ name: { value: name } }: TypeNode, users: ReadonlyMap<string, string[]>): string | undefined {
  if (name.endsWith("Connection")) return `A page of ${plural(nounOf(name.replace(/Connection$/, "")))}.`;
  if (name.endsWith("Edge")) return `An item of a page of ${plural(nounOf(name.replace(/Edge$/, "")))}.`;
  const mutations = users.get(name);
  if (!mutations) return usualTypes[name];
  return `${name.endsWith("Payload") ? "The answer" : "The input"} of ${mutations.join(", ")}.`;
}

function textOfField(parent: string, field: FieldDefinitionNode): string | undefined {
  const name = field.name.value;
  const usual = usualFields[`${parent}.${name}`] ?? usualFields[name];
  if (usual !== undefined) return usual;
  if (name === "id") {
    const noun = parent.endsWith("Input") ? objectOfVerb(parent.replace(/Input$/, "")) : nounOf(parent);
    return `The id of the ${noun}.`;
  }
  if (!parent.endsWith("Payload")) return undefined;
  const gone = /^(?:deleted|left|removed)(.+?)(Id|Name)$/.exec(name);
  if (gone) return `The ${gone[2]?.toLowerCase()} of the ${nounOf(gone[1] ?? "")} that is gone; null after a refusal.`;
  const noun = nounOf(name.replace(/Id$/, ""));
  return name.endsWith("Id") ? `The id of the ${noun}; null after a refusal.` : `The ${noun}; null after a refusal.`;
}

/** Returns the noun of what a field is about. */
function subjectOf(parent: TypeNode, { name: { value: name } }: FieldDefinitionNode): string {
  if (/^(?:node|why)$/.test(name)) return "object";
  return parent.name.value === "Mutation" ? objectOfVerb(name) : nounOf(name.replace(belongings, ""));
}

/** Returns the noun of a mutation or of its input: the name without the verb and what belongs to the noun. */
const objectOfVerb = (name: string): string =>
  nounOf(
    name
      .replace(/^(?:[cC]reateSigned|[dD]eletePrevious|[a-zA-Z][a-z]+)(?:Account)?(?=[A-Z])/, "")
      .replace(/SenderKey$/, "Source")
      .replace(belongings, ""),
  );
const belongings = /(?:Secrets?|Addresses|Url|Upload|Changed)$/;

const words: Readonly<Record<string, string>> = {
  api: "API",
  oauth: "OAuth",
  url: "URL",
  webhookreplay: "webhook replay",
};

/** Writes a name of the graph as people say it: `OauthApplication` is an OAuth application. */
const nounOf = (name: string): string =>
  name
    .split(/(?=[A-Z])/)
    .map((word) => words[word.toLowerCase()] ?? word.toLowerCase())
    .join(" ")
    .replace("sign in", "sign-in");

const namedOf = (type: FieldDefinitionNode["type"]): string =>
  type.kind === Kind.NAMED_TYPE ? type.name.value : namedOf(type.type);
