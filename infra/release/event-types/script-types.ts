import type { EventTypes, Member, ObjectType, Value } from "./event-shapes.ts";

const banner = "Types of the data of all events, made from their accepted schemas. Readers ignore unknown members.";

/** Writes the types for TypeScript: an interface for each object, and `EventData` by the type of an event. */
export function typescriptTypes({ objects, events }: EventTypes): string {
  const interfaces = objects.map(({ name, description, members }) => {
    const lines = members.map(
      (member) =>
        `  /** ${comment(member.description)} */\n  readonly ${member.name}${member.required ? "" : "?"}: ${typescriptOf(member)};`,
    );
    return `/** ${comment(description)} */\nexport interface ${name} {\n${lines.join("\n")}\n}`;
  });
  const byType = events.map(({ type, object }) => `  readonly "${type}": ${object};`);
  const data = `/** The data of an event by its type and version. */\nexport interface EventData {\n${byType.join("\n")}\n}`;
  return `${[`// ${banner}`, ...interfaces, data].join("\n\n")}\n`;
}

const comment = (text: string): string => text.replaceAll("*/", "* /");

function typescriptOf({ shape, nullable }: Value): string {
  const type = (() => {
    switch (shape.kind) {
      case "integer":
        return "number";
      case "any":
        return "unknown";
      case "enum":
        return shape.values.map((value) => JSON.stringify(value)).join(" | ");
      case "list":
        return `readonly (${typescriptOf(shape.item)})[]`;
      case "map":
        return `{ readonly [name: string]: ${typescriptOf(shape.item)} }`;
      case "object":
        return shape.name;
      default:
        return shape.kind;
    }
  })();
  return nullable && shape.kind !== "any" ? `${type} | null` : type;
}

const pythonWords = new Set(
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split(
    " ",
  ),
);
const pythonKinds = { string: "str", integer: "int", number: "float", boolean: "bool", any: "Any" } as const;

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

const pythonMember = (member: Member): string => {
  const type = pythonOf(member);
  return member.required ? type : `NotRequired[${type}]`;
};

function pythonOf({ shape, nullable }: Value): string {
  const type = (() => {
    switch (shape.kind) {
      case "enum":
        return `Literal[${shape.values.map((value) => JSON.stringify(value)).join(", ")}]`;
      case "list":
        return `list[${pythonOf(shape.item)}]`;
      case "map":
        return `dict[str, ${pythonOf(shape.item)}]`;
      case "object":
        return shape.name;
      default:
        return pythonKinds[shape.kind];
    }
  })();
  return nullable && shape.kind !== "any" ? `${type} | None` : type;
}
