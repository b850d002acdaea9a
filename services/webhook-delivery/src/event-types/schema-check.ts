import process from "node:process";
import { createContext, Script } from "node:vm";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";

/** What does not fit a schema, and where: a JSON Pointer (RFC 6901) into the data. */
export interface Misfit {
  readonly pointer: string;
  readonly message: string;
}

export type SchemaCheck = (data: unknown) => Misfit | null;

/** The most work that compiling a schema, or checking an event by it, may be: so long everybody else waits. */
const compileMsMax = 500;
const checkMsMax = 50;
const triesMax = 10;
const options = { strict: false, validateFormats: false, logger: false, messages: true } as const;

/**
 * Compiles a JSON Schema (2020-12) of somebody we do not know; a text says why it cannot be used. References lead nowhere
 * but into the schema itself. Patterns and `uniqueItems` can take for ever, so both steps are ended from outside.
 */
export function compileSchema(schema: object): SchemaCheck | string {
  // A compiler for each try: one that was ended in its work takes the schema for one that it is compiling still.
  const compiled = bounded<ValidateFunction>(compileMsMax, () => new Ajv2020(options).compile(schema));
  if ("failure" in compiled) return compiled.failure;
  const validate = compiled.result;
  return (data) => {
    const checked = bounded(checkMsMax, () => (validate(data) ? null : misfitOf(validate.errors ?? [])));
    return "failure" in checked
      ? { pointer: "", message: "The data takes too long to check by this schema." }
      : checked.result;
  };
}

function misfitOf([first]: readonly ErrorObject[]): Misfit {
  return { pointer: first?.instancePath ?? "", message: first?.message ?? "does not fit the schema" };
}

type Bounded<T> = { readonly result: T } | { readonly failure: string };

const sandbox = createContext({ work: () => {} });
const call = new Script("work()");

/**
 * Runs the work, which runs outside the sandbox as it would anyway; only the clock is the sandbox's. That shows the time of
 * the wall: where this process was not given its turn meanwhile, the work begins again.
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
          return { failure: "The schema takes too long." };
      }
    }
  } finally {
    sandbox.work = () => {};
  }
}

/** What this thread has worked since its start. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
