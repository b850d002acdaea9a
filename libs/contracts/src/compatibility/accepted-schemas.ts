import { readdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import stringify from "json-stringify-pretty-compact";
import { catalogue, eventType } from "../catalogue/event-catalogue.ts";
import { eventJsonSchema, type JsonSchema } from "../documents/json-schema.ts";
import { compareSchemas } from "./compare-schemas.ts";

const folder = fileURLToPath(new URL("../../accepted/", import.meta.url));

export interface SchemaReview {
  /** Sentences, each naming the event, the member and the incompatibility. */
  readonly problems: string[];
  /** Types whose accepted schema differs from the catalogue, compatible or not, with their files. */
  readonly stale: string[];
}

/** Compares the catalogue with the schemas accepted last, kept in `libs/contracts/accepted`. */
export async function reviewSchemas(): Promise<SchemaReview> {
  const accepted = await readAccepted();
  const current = new Map(catalogue.map((event) => [eventType(event), eventJsonSchema(event)]));
  const problems = [...accepted].flatMap(([type, schema]) => {
    const now = current.get(type);
    if (now === undefined)
      return [`${type}: is gone. Publish it beside its successor for twelve months, then remove it from its file`];
    return compareSchemas(schema, now).map(({ path, problem }) => `${type}: ${path || "data"}: ${problem}`);
  });
  const stale = [...current].filter(([type, schema]) => fileText(accepted.get(type)) !== fileText(schema));
  return { problems, stale: stale.map(([type]) => `accepted/${acceptedFile(type)}: ${type}`) };
}

/**
 * Accepts the current catalogue. Refuses a change that would break a reader: raise the version of the event instead,
 * and keep the old one. @throws Error listing the incompatibilities.
 */
export async function acceptSchemas(): Promise<string[]> {
  const { problems, stale } = await reviewSchemas();
  if (problems.length > 0)
    throw new Error(`These changes would break readers:\n${problems.map((line) => `  ${line}`).join("\n")}`);
  for (const [file, schemas] of schemasByFile()) await writeFile(`${folder}${file}`, fileText(schemas));
  return stale;
}

/** The current schemas by type, in a file per aggregate: that of `account.created.v1` is `account.json`. */
function schemasByFile(): Map<string, Record<string, JsonSchema>> {
  const files = new Map<string, Record<string, JsonSchema>>();
  for (const event of catalogue) {
    const type = eventType(event);
    files.set(acceptedFile(type), { ...files.get(acceptedFile(type)), [type]: eventJsonSchema(event) });
  }
  return files;
}

async function readAccepted(): Promise<Map<string, JsonSchema>> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
  const texts = await Promise.all(files.map((name) => readFile(`${folder}${name}`, "utf8")));
  return new Map(texts.flatMap((text) => Object.entries(JSON.parse(text) as Record<string, JsonSchema>)));
}

const acceptedFile = (type: string): string => `${type.slice(0, type.indexOf("."))}.json`;

const fileText = (content: object | undefined): string => (content ? `${schemaText(content)}\n` : "");

/** Writes a schema with each property on a line of its own, so that its change is a change of one line. */
function schemaText(value: unknown, name = "", indent = ""): string {
  if (name === "examples") return stringify(value, { maxLength: 120 }).replaceAll("\n", `\n${indent}`);
  if (!spansLines(value, name)) return stringify(value, { maxLength: Number.POSITIVE_INFINITY });
  const inner = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((member) => `${inner}${schemaText(member, "", inner)}`)
    : Object.entries(value).map(([key, member]) => `${inner}${JSON.stringify(key)}: ${schemaText(member, key, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

/** A schema that has properties, at any depth, and the list of them. */
function spansLines(value: unknown, name: string): value is object {
  if (value === null || typeof value !== "object") return false;
  return name === "properties" || Object.entries(value).some(([key, member]) => spansLines(member, key));
}
