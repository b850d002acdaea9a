import process from "node:process";
import { createContext, Script } from "node:vm";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";

/** A mismatch between data and schema: its place as a JSON Pointer (RFC 6901) into the data, and a message. */
export interface Misfit {
  readonly pointer: string;
  readonly message: string;
}

export type SchemaCheck = (data: unknown) => Misfit | null;

/** Time limits of compiling a schema and of checking an event. Other requests wait that long. */
const compileMsMax = 500;
const checkMsMax = 50;
const triesMax = 10;
const options = { strict: false, validateFormats: false, logger: false, messages: true } as const;

/**
 * Compiles an untrusted JSON Schema (2020-12); a text says why it cannot be used. References lead only into the schema
 * itself. Patterns and `uniqueItems` can take for ever, so a time limit outside the code ends both steps.
 */
export function compileSchema(schema: object): SchemaCheck | string {
  const judge = metaSchemaJudge();
  const compiled = bounded<ValidateFunction>(compileMsMax, () => {
    void judge.validateSchema(schema, true);
    // A new compiler for each try: an interrupted compiler takes the schema for one that it is still compiling.
    return new Ajv2020({ ...options, validateSchema: false }).compile(schema);
  });
  if ("failure" in compiled) return compiled.failure;
  const validate = compiled.result;
  return (data) => {
    const checked = bounded(checkMsMax, () => (validate(data) ? null : misfitOf(validate.errors ?? [])));
    return "failure" in checked
      ? { pointer: "", message: "The data take too long to check against this schema." }
      : checked.result;
  };
}

let keptJudge: Ajv2020 | undefined;

/**
 * Returns the compiler that knows the meta-schema. Compiling that one takes longer than most schemas, on a busy machine
 * longer than the limit, so it is done once and is not counted against anybody's schema.
 */
function metaSchemaJudge(): Ajv2020 {
  if (keptJudge) return keptJudge;
  keptJudge = new Ajv2020(options);
  void keptJudge.validateSchema({});
  return keptJudge;
}

function misfitOf([first]: readonly ErrorObject[]): Misfit {
  return { pointer: first?.instancePath ?? "", message: first?.message ?? "does not match the schema" };
}

type Bounded<T> = { readonly result: T } | { readonly failure: string };

const sandbox = createContext({ work: () => {} });
const call = new Script("work()");

/**
 * Runs the work with a time limit. Only the timer comes from the sandbox: the work runs outside it, as always. The
 * timer measures wall time, so the work is repeated when the process got no processor time meanwhile.
 */
function bounded<T>(workMsMax: number, work: () => T): Bounded<T> {
  const startedMs = workedMs();
  sandbox.work = work;
  try {
    for (let tries = 1; ; tries++) {
      try {
        return { result: call.runInContext(sandbox, { timeout: workMsMax }) as T };
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") return { failure: message };
        if (tries === triesMax || workedMs() - startedMs >= workMsMax / 2)
          return { failure: "The schema takes too long to compile." };
      }
    }
  } finally {
    sandbox.work = () => {};
  }
}

/** Returns the processor time of this thread in milliseconds. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
