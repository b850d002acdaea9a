import { type DefinitionNode, Kind, type ObjectTypeDefinitionNode, parse, print, visit } from "graphql";
import type { Member } from "./members.ts";

/** A type with members: of objects or inputs, or an interface. */
export type TypeNode = ObjectTypeDefinitionNode;

const kinds: readonly string[] = [
  Kind.OBJECT_TYPE_DEFINITION,
  Kind.INPUT_OBJECT_TYPE_DEFINITION,
  Kind.INTERFACE_TYPE_DEFINITION,
];

export const isTypeNode = (node: DefinitionNode): node is TypeNode => kinds.includes(node.kind);

/** Reads the definitions of a schema by their names. */
export const readNodes = (sdl: string): Map<string, DefinitionNode> =>
  new Map(
    parse(sdl, { noLocation: true }).definitions.map((node) => ["name" in node ? String(node.name?.value) : "", node]),
  );

export const readNode = (sdl: string): DefinitionNode => parse(sdl, { noLocation: true }).definitions[0] as never;

/** Writes the head of a definition, with its members in braces. */
export function writeType(head: string, description: string | undefined, members: readonly Member[]): string {
  const body = members.length > 0 ? ` {\n${members.map(writeMember).join("\n")}\n}` : "";
  return `${quoted(description)}${head}${body}`;
}

function writeMember({ name, type, description, args = [] }: Member): string {
  const list = args.length > 0 ? `(${args.map(writeMember).join(" ")})` : "";
  return `${quoted(description)}${name}${list}: ${type}`;
}

const widthMax = 110;

/** Writes a description, in lines of a block where it is long. */
export function quoted(text: string | undefined): string {
  if (text === undefined) return "";
  if (text.length <= widthMax) return `${JSON.stringify(text)}\n`;
  const lines = text.match(new RegExp(`.{1,${widthMax}}(?= |$)`, "g")) ?? [];
  return `"""\n${lines.map((line) => line.trim()).join("\n")}\n"""\n`;
}

/** The name within a type such as `[Image!]!`. */
export const namedType = (type: string): string => type.replaceAll(/[[\]!]/g, "");

/** Directives of the schemas by hand, which say how a type is completed. */
const ofGenerator = ["from", "without"];

/** The text of a directive that says how a type is completed. */
export function completion(node: TypeNode | undefined, directive: "from" | "without"): string {
  const value = node?.directives?.find(({ name }) => name.value === directive)?.arguments?.[0]?.value;
  return value?.kind === Kind.STRING ? value.value : "";
}

/** Joins definitions to a schema that imports the directives of federation that it uses. */
export function writeSchema(definitions: readonly DefinitionNode[]): string {
  const used = new Set<string>();
  const document = visit({ kind: Kind.DOCUMENT, definitions } as const, {
    Directive: ({ name: { value } }) => {
      if (ofGenerator.includes(value)) return null;
      used.add(`"@${value}"`);
      return undefined;
    },
  });
  const imported = ['"@key"', '"@listSize"', '"@shareable"'].filter((name) => used.has(name)).join(", ");
  return [
    "# Made by `npm run generate` from schema.graphql and the declarations of the service.",
    `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: [${imported}])`,
    `${print(document)}\n`,
  ].join("\n\n");
}
