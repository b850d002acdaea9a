import { parentPort, threadId } from "node:worker_threads";
import type { ValidateFunction } from "ajv/dist/2020.js";
import { LRUCache } from "lru-cache";
import { checkData, compileSchema, type Misfit, type Starved, workedMs } from "./schema-check.ts";

/** Data to check against a schema, all as JSON. No data ask whether the schema can be used. */
export interface SchemaQuestion {
  readonly schema: string;
  readonly data: readonly string[];
  readonly checkMsMax: number;
}

/** The reason why a schema is not applied any more. */
export type SchemaTimeout = "check-timeout" | "compile-timeout";

export type SchemaAnswer =
  /** For each datum its mismatch, or null. */
  | { readonly outcome: "checked"; readonly misfits: readonly (Misfit | null)[] }
  | { readonly outcome: "unusable"; readonly message: string }
  | { readonly outcome: "timeout"; readonly reason: SchemaTimeout };

/** An answer, or none, with the processor time that it took. */
export interface TimedAnswer {
  readonly answer: SchemaAnswer | Starved;
  readonly workedMs: number;
  /** Of them, for the check alone. */
  readonly checkedMs: number;
}

/** A thread that checks data against the schemas of accounts. It may be terminated at any moment. */
const port = parentPort;
if (!port) throw new Error(`not a worker thread: ${threadId}`);

/** Compiled schemas take up to forty times the room of their texts. */
const textsMax = 2_000_000;
const compiled = new LRUCache<string, ValidateFunction>({
  maxSize: textsMax,
  sizeCalculation: (_validate, text) => text.length,
});

port.on("message", (question: SchemaQuestion) => {
  const startedMs = workedMs();
  const known = compiled.get(question.schema) ?? compile(question.schema);
  const compiledMs = workedMs();
  const answer = typeof known === "function" ? check(known, question) : known;
  const endedMs = workedMs();
  port.postMessage({ answer, workedMs: endedMs - startedMs, checkedMs: endedMs - compiledMs } satisfies TimedAnswer);
});

port.postMessage("ready");

function compile(text: string): ValidateFunction | SchemaAnswer | Starved {
  const end = compileSchema(JSON.parse(text));
  if (end.outcome === "timeout") return { outcome: "timeout", reason: "compile-timeout" };
  if (end.outcome === "starved") return end;
  if (end.outcome === "failed") return { outcome: "unusable", message: end.message };
  compiled.set(text, end.result);
  return end.result;
}

function check(validate: ValidateFunction, { data, checkMsMax }: SchemaQuestion): SchemaAnswer | Starved {
  if (data.length === 0) return { outcome: "checked", misfits: [] };
  const values = data.map((text) => JSON.parse(text));
  const end = checkData(validate, values, checkMsMax);
  if (end.outcome === "starved") return end;
  return end.outcome === "done"
    ? { outcome: "checked", misfits: end.result }
    : { outcome: "timeout", reason: "check-timeout" };
}
