import { readdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { catalogue, eventType } from "../catalogue.ts";
import { eventJsonSchema, type JsonSchema } from "../documents/json-schema.ts";
import { compareSchemas } from "./compare-schemas.ts";

const folder = fileURLToPath(new URL("../../accepted/", import.meta.url));

export interface SchemaReview {
  /** Sentences, each naming the event, the member and the incompatibility. */
  readonly problems: string[];
  /** Files whose content differs from the catalogue, compatible or not. */
  readonly stale: string[];
}

/** Compares the catalogue with the schemas accepted last, kept in `libs/contracts/accepted`. */
export async function reviewSchemas(): Promise<SchemaReview> {
  const accepted = await readAccepted();
  const current = new Map(catalogue.map((event) => [eventType(event), eventJsonSchema(event)]));
  const problems = [...accepted].flatMap(([type, schema]) => {
    const now = current.get(type);
    if (now === undefined)
      return [`${type}: is gone. Publish it beside its successor for twelve months, then remove its file`];
    return compareSchemas(schema, now).map(({ path, problem }) => `${type}: ${path || "data"}: ${problem}`);
  });
  const stale = [...current].filter(([type, schema]) => fileText(accepted.get(type)) !== fileText(schema));
  return { problems, stale: stale.map(([type]) => `accepted/${type}.json`) };
}

/**
 * Accepts the current catalogue. Refuses a change that would break a reader: raise the version of the event instead,
 * and keep the old one. @throws Error listing the incompatibilities.
 */
export async function acceptSchemas(): Promise<string[]> {
  const { problems, stale } = await reviewSchemas();
  if (problems.length > 0)
    throw new Error(`These changes would break readers:\n${problems.map((line) => `  ${line}`).join("\n")}`);
  for (const event of catalogue) await writeFile(`${folder}${eventType(event)}.json`, fileText(eventJsonSchema(event)));
  return stale;
}

async function readAccepted(): Promise<Map<string, JsonSchema>> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
  const entries = files.map(async (name) => {
    const schema = JSON.parse(await readFile(`${folder}${name}`, "utf8")) as JsonSchema;
    return [name.slice(0, -".json".length), schema] as const;
  });
  return new Map(await Promise.all(entries));
}

const fileText = (schema: JsonSchema | undefined): string => (schema ? `${JSON.stringify(schema, null, 2)}\n` : "");
