import type { EventTypes, Member, ObjectType, Shape, Value } from "./event-shapes.ts";

const banner = "Types of the data of all events, made from their accepted schemas. Readers ignore unknown members.";
const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ");

/** The types of a language. */
interface Language {
  readonly scalars: Readonly<Record<"string" | "integer" | "number" | "boolean" | "any", string>>;
  /** Left out, an enum is a string. */
  readonly choice?: (values: readonly string[]) => string;
  readonly list: (item: string) => string;
  readonly map: (item: string) => string;
  readonly nullable: (type: string) => string;
}

const typeOf = (language: Language, { shape, nullable }: Value): string => {
  const type = shapeOf(language, shape);
  return nullable && shape.kind !== "any" ? language.nullable(type) : type;
};

function shapeOf(language: Language, shape: Shape): string {
  switch (shape.kind) {
    case "enum":
      return language.choice?.(shape.values) ?? language.scalars.string;
    case "list":
    case "map":
      return language[shape.kind](typeOf(language, shape.item));
    case "object":
      return shape.name;
    default:
      return language.scalars[shape.kind];
  }
}

const literals = (separator: string) => (values: readonly string[]) =>
  values.map((value) => JSON.stringify(value)).join(separator);

const typescript: Language = {
  scalars: { string: "string", integer: "number", number: "number", boolean: "boolean", any: "unknown" },
  choice: literals(" | "),
  list: (item) => `readonly (${item})[]`,
  map: (item) => `{ readonly [name: string]: ${item} }`,
  nullable: (type) => `${type} | null`,
};

/** Writes the types for TypeScript: an interface for each object, and `EventData` by the type of an event. */
export function typescriptTypes({ objects, events }: EventTypes): string {
  const interfaces = objects.map(({ name, description, members }) => {
    const lines = members.map(
      (member) =>
        `  /** ${comment(member.description)} */\n  readonly ${member.name}${member.required ? "" : "?"}: ${typeOf(typescript, member)};`,
    );
    return `/** ${comment(description)} */\nexport interface ${name} {\n${lines.join("\n")}\n}`;
  });
  const byType = events.map(({ type, object }) => `  readonly "${type}": ${object};`);
  const data = `/** The data of an event by its type and version. */\nexport interface EventData {\n${byType.join("\n")}\n}`;
  return `${[`// ${banner}`, ...interfaces, data].join("\n\n")}\n`;
}

const comment = (text: string): string => text.replaceAll("*/", "* /");

const pythonWords = new Set(
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split(
    " ",
  ),
);
const python: Language = {
  scalars: { string: "str", integer: "int", number: "float", boolean: "bool", any: "Any" },
  choice: (values) => `Literal[${literals(", ")(values)}]`,
  list: (item) => `list[${item}]`,
  map: (item) => `dict[str, ${item}]`,
  nullable: (type) => `${type} | None`,
};

/** Writes the types for Python 3.11 or newer: a `TypedDict` for each object, and `EVENTS` by the type of an event. */
export function pythonTypes({ objects, events }: EventTypes): string {
  const byType = events.map(({ type, object }) => `    "${type}": ${object},`);
  const table = `# The data of an event by its type and version.\nEVENTS: dict[str, type] = {\n${byType.join("\n")}\n}`;
  const head = `"""${banner}"""\n\nfrom typing import Any, Literal, NotRequired, TypedDict`;
  return `${[head, ...objects.map(pythonClass), table].join("\n\n\n")}\n`;
}

function pythonClass({ name, description, members }: ObjectType): string {
  const doc =
    description === "" ? [] : [`    """${description.replaceAll("\\", "\\\\").replaceAll('"""', "'''")}"""\n`];
  if (members.some((member) => pythonWords.has(member.name))) {
    // A word of the language cannot be the name of an attribute.
    const entries = members.map((member) => `    "${member.name}": ${pythonMember(member)},`);
    return `${name} = TypedDict("${name}", {\n${entries.join("\n")}\n})`;
  }
  const lines = members.map((member) => {
    const text = member.description === "" ? [] : [`    # ${member.description.replaceAll("\n", " ")}`];
    return [...text, `    ${member.name}: ${pythonMember(member)}`].join("\n");
  });
  return [`class ${name}(TypedDict):`, ...doc, ...(lines.length === 0 ? ["    pass"] : lines)].join("\n");
}

const pythonMember = (member: Member): string =>
  member.required ? typeOf(python, member) : `NotRequired[${typeOf(python, member)}]`;

const camelCase = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
const exported = (name: string): string => camelCase(name).replace(/^[a-z]/, (letter) => letter.toUpperCase());

const go: Language = {
  // `RawMessage` keeps every digit of numbers that no float64 holds.
  scalars: { string: "string", integer: "int64", number: "float64", boolean: "bool", any: "json.RawMessage" },
  list: (item) => `[]${item}`,
  map: (item) => `map[string]${item}`,
  nullable: (type) => `*${type}`,
};

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
const goMember = ({ shape, required, nullable }: Member): string => {
  const hasNil = ["any", "list", "map"].includes(shape.kind);
  return typeOf(go, { shape, nullable: (nullable || !required) && !hasNil });
};

const javaWords = new Set(
  "abstract assert boolean break byte case catch char class const continue default do double else enum extends final finally float for goto if implements import instanceof int interface long native new package private protected public return short static strictfp super switch synchronized this throw throws transient try void volatile while true false null".split(
    " ",
  ),
);
const java: Language = {
  // Boxed, because any member may be null in an event that is older than the member.
  scalars: { string: "String", integer: "Long", number: "Double", boolean: "Boolean", any: "Object" },
  list: (item) => `List<${item}>`,
  map: (item) => `Map<String, ${item}>`,
  nullable: (type) => type,
};

/**
 * Writes the types for Java 17 or newer: a record for each object, whose components have the names of the JSON. A word of the
 * language gets an underscore.
 */
export function javaTypes({ objects, events }: EventTypes): string {
  const records = objects.map(({ name, description, members }) => {
    const components = members.map((member) => `      ${typeOf(java, member)} ${javaName(member.name)}`);
    return `  /** ${comment(oneLine(description))} */\n  public record ${name}(\n${components.join(",\n")}) {}`;
  });
  const entries = events.map(({ type, object }) => `      Map.entry("${type}", ${object}.class)`);
  const table = `  /** The record of an event's data by its type and version. */\n  public static final Map<String, Class<? extends Record>> BY_TYPE = Map.ofEntries(\n${entries.join(",\n")});`;
  const head = `package signalbox.events;\n\nimport java.util.List;\nimport java.util.Map;\n\n/** ${banner} */\npublic final class Events {\n  private Events() {}`;
  return `${[head, ...records, table].join("\n\n")}\n}\n`;
}

const javaName = (name: string): string => (javaWords.has(name) ? `${name}_` : name);
