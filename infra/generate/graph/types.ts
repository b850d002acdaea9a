import {
  type DefinitionNode,
  type EnumTypeDefinitionNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  Kind,
  parse,
  print,
  visit,
} from "graphql";
import type { Member } from "./members.ts";

/** A type of objects or inputs, or an interface. */
export interface Type {
  readonly keyword: "type" | "input" | "interface";
  readonly name: string;
  readonly description?: string | undefined;
  readonly interfaces: readonly string[];
  readonly directives: readonly string[];
  readonly members: readonly Member[];
  /** Members of its resource that the graph leaves out. */
  readonly without: ReadonlySet<string>;
  /** What it is made from, where that has another name: a resource of OpenAPI, or an input. */
  readonly from?: string | undefined;
}

export const emptyType = (name: string): Type => ({
  keyword: name.endsWith("Input") ? "input" : "type",
  name,
  interfaces: [],
  directives: [],
  members: [],
  without: new Set(),
});

const keywords: Partial<Record<Kind, Type["keyword"]>> = {
  [Kind.OBJECT_TYPE_DEFINITION]: "type",
  [Kind.INPUT_OBJECT_TYPE_DEFINITION]: "input",
  [Kind.INTERFACE_TYPE_DEFINITION]: "interface",
};

/** An enum; one without values takes them from its resource. */
export interface Enum {
  readonly name: string;
  readonly description?: string | undefined;
  readonly values: readonly { readonly name: string; readonly description?: string | undefined }[];
}

/** The definitions of a document: types with members, and others as they are written. */
export interface Definitions {
  readonly types: readonly Type[];
  readonly enums: readonly Enum[];
  readonly others: ReadonlyMap<string, string>;
}

export function readDefinitions(sdl: string): Definitions {
  const { definitions } = parse(sdl, { noLocation: true });
  const types = definitions.flatMap((node) => readType(node) ?? []);
  const others = definitions.filter((node) => !(node.kind in keywords) && node.kind !== Kind.ENUM_TYPE_DEFINITION);
  return {
    types,
    enums: definitions.filter((node) => node.kind === Kind.ENUM_TYPE_DEFINITION).map(readEnum),
    others: new Map(others.map((node) => ["name" in node && node.name ? node.name.value : "", print(node)])),
  };
}

const readEnum = ({ name, description, values = [] }: EnumTypeDefinitionNode): Enum => ({
  name: name.value,
  description: description?.value,
  values: values.map((value) => ({ name: value.name.value, description: value.description?.value })),
});

function readType(node: DefinitionNode): Type | null {
  const keyword = keywords[node.kind];
  if (keyword === undefined || !("fields" in node) || !("description" in node)) return null;
  const { directives = [] } = node;
  const argumentOf = (wanted: string) => {
    const value = directives.find(({ name }) => name.value === wanted)?.arguments?.[0]?.value;
    return value?.kind === Kind.STRING ? value.value : "";
  };
  return {
    keyword,
    name: node.name.value,
    description: node.description?.value,
    interfaces: "interfaces" in node ? (node.interfaces ?? []).map(({ name }) => name.value) : [],
    directives: directives.filter(({ name }) => !ofGenerator.has(name.value)).map((directive) => print(directive)),
    members: (node.fields ?? []).map(readMember),
    without: new Set(argumentOf("without").split(" ")),
    from: argumentOf("from") || undefined,
  };
}

/** Directives of the schemas by hand, which say how the generator completes a type. */
const ofGenerator = new Set(["without", "from"]);

function readMember(node: FieldDefinitionNode | InputValueDefinitionNode): Member {
  return {
    name: node.name.value,
    type: print(node.type),
    description: node.description?.value,
    args: "arguments" in node ? (node.arguments ?? []).map(readMember) : [],
    directives: (node.directives ?? []).map((directive) => print(directive)).join(" "),
  };
}

/** The name within a type such as `[Image!]!`. */
export const namedType = (type: string): string => type.replaceAll(/[[\]!]/g, "");

/** Writes a type as SDL. */
export function writeType({ keyword, name, description, interfaces, directives, members }: Type): string {
  const implemented = interfaces.length > 0 ? ` implements ${interfaces.join(" & ")}` : "";
  const head = [`${keyword} ${name}${implemented}`, ...directives].join(" ");
  return `${quoted(description)}${head} {\n${members.map(writeMember).join("\n")}\n}`;
}

export function writeEnum({ name, description, values }: Enum): string {
  const lines = values.map((value) => `${quoted(value.description)}${value.name}`);
  return `${quoted(description)}enum ${name} {\n${lines.join("\n")}\n}`;
}

function writeMember({ name, type, description, args = [], directives = "" }: Member): string {
  const list = args.length > 0 ? `(${args.map(writeMember).join(" ")})` : "";
  return `${quoted(description)}${name}${list}: ${type} ${directives}`;
}

const widthMax = 110;

/** Writes a description, in lines of a block where it is long. */
function quoted(text: string | undefined): string {
  if (text === undefined) return "";
  if (text.length <= widthMax) return `${JSON.stringify(text)}\n`;
  const lines = text.match(new RegExp(`.{1,${widthMax}}(?= |$)`, "g")) ?? [];
  return `"""\n${lines.map((line) => line.trim()).join("\n")}\n"""\n`;
}

/** Joins definitions to a schema that imports the directives of federation that it uses. */
export function writeSchema(definitions: readonly string[]): string {
  const document = parse(definitions.join("\n\n"));
  const used = new Set<string>();
  visit(document, { Directive: ({ name }) => void used.add(`"@${name.value}"`) });
  const imported = ['"@key"', '"@shareable"'].filter((name) => used.has(name)).join(", ");
  const link = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: [${imported}])`;
  return `# Made by \`npm run generate\` from schema.graphql and the declarations of the service.\n\n${link}\n\n${print(document)}\n`;
}
