import type { EventTypes, Member, Shape, Value } from "./event-shapes.ts";

const banner = "Types of the data of all events, made from their accepted schemas. Readers ignore unknown members.";
const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ");

const camelCase = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
const exported = (name: string): string => camelCase(name).replace(/^[a-z]/, (letter) => letter.toUpperCase());

const goKinds = { string: "string", enum: "string", integer: "int64", number: "float64", boolean: "bool" } as const;

/** Writes the types for Go: a struct for each object, and `New` that makes the one of an event's type. */
export function goTypes({ objects, events }: EventTypes): string {
  const structs = objects.map(({ name, description, members }) => {
    const lines = members.flatMap((member) => [
      ...(member.description === "" ? [] : [`\t// ${oneLine(member.description)}`]),
      `\t${exported(member.name)} ${goMember(member)} \`json:"${member.name}${member.required ? "" : ",omitempty"}"\``,
    ]);
    return `// ${name}: ${oneLine(description)}\ntype ${name} struct {\n${lines.join("\n")}\n}`;
  });
  const cases = events.map(({ type, object }) => `\tcase "${type}":\n\t\treturn &${object}{}`);
  const factory = `// New returns a value for the data of an event of this type and version; nil for an unknown one.\nfunc New(eventType string) any {\n\tswitch eventType {\n${cases.join("\n")}\n\t}\n\treturn nil\n}`;
  const head = `// Code generated from the accepted schemas. DO NOT EDIT.\n\n// Package events: ${banner}\npackage events\n\nimport "encoding/json"`;
  return `${[head, ...structs, factory].join("\n\n")}\n`;
}

/** A member that may be absent or null is a pointer, unless its type has a nil of its own. */
const goMember = (member: Member): string => {
  const hasNil = ["any", "list", "map"].includes(member.shape.kind);
  return (member.required && !member.nullable) || hasNil ? goOf(member.shape) : `*${goOf(member.shape)}`;
};

function goOf(shape: Shape): string {
  switch (shape.kind) {
    case "any":
      // Keeps every digit of numbers that no float64 holds.
      return "json.RawMessage";
    case "list":
      return `[]${goItem(shape.item)}`;
    case "map":
      return `map[string]${goItem(shape.item)}`;
    case "object":
      return shape.name;
    default:
      return goKinds[shape.kind];
  }
}

const goItem = ({ shape, nullable }: Value): string =>
  nullable && shape.kind !== "any" ? `*${goOf(shape)}` : goOf(shape);

const javaWords = new Set(
  "abstract assert boolean break byte case catch char class const continue default do double else enum extends final finally float for goto if implements import instanceof int interface long native new package private protected public return short static strictfp super switch synchronized this throw throws transient try void volatile while true false null".split(
    " ",
  ),
);
/** Boxed, because any member may be null in an event that is older than the member. */
const javaKinds = {
  string: "String",
  enum: "String",
  integer: "Long",
  number: "Double",
  boolean: "Boolean",
  any: "Object",
} as const;

/**
 * Writes the types for Java 17 or newer: a record for each object, whose components have the names of the JSON. A word of the
 * language gets an underscore.
 */
export function javaTypes({ objects, events }: EventTypes): string {
  const records = objects.map(({ name, description, members }) => {
    const components = members.map((member) => `      ${javaOf(member.shape)} ${javaName(member.name)}`);
    return `  /** ${oneLine(description).replaceAll("*/", "* /")} */\n  public record ${name}(\n${components.join(",\n")}) {}`;
  });
  const entries = events.map(({ type, object }) => `      Map.entry("${type}", ${object}.class)`);
  const table = `  /** The record of an event's data by its type and version. */\n  public static final Map<String, Class<? extends Record>> BY_TYPE = Map.ofEntries(\n${entries.join(",\n")});`;
  const head = `package signalbox.events;\n\nimport java.util.List;\nimport java.util.Map;\n\n/** ${banner} */\npublic final class Events {\n  private Events() {}`;
  return `${[head, ...records, table].join("\n\n")}\n}\n`;
}

const javaName = (name: string): string => (javaWords.has(name) ? `${name}_` : name);

function javaOf(shape: Shape): string {
  switch (shape.kind) {
    case "list":
      return `List<${javaOf(shape.item.shape)}>`;
    case "map":
      return `Map<String, ${javaOf(shape.item.shape)}>`;
    case "object":
      return shape.name;
    default:
      return javaKinds[shape.kind];
  }
}
