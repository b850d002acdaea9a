import process from "node:process";
import { createContext, Script } from "node:vm";
import { systemClock } from "@signalbox/core";
import { Ajv } from "ajv";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";

/** A mismatch between data and schema: its place as a JSON Pointer (RFC 6901) into the data, and a message. */
export interface Misfit {
  readonly pointer: string;
  readonly message: string;
}

/** Processor time of compiling one schema: twice what 600 members take in a cold thread. Checks do not count it. */
const compileMsMax = 500;
/** Time that work may wait for a processor: a busy machine gives a thread none for a tenth of a second at once. */
const waitMsMax = 5_000;
/** A thread that gets less than one in so many parts of a processor proves nothing about its work. */
export const slowestShare = 16;
/** Reading an expression cannot be interrupted: one of this length takes up to 50 ms. */
const patternCharactersMax = 1_000;
const options = { strict: false, validateFormats: false, logger: false, messages: true } as const;
// Unoptimized code compiles in a quarter of the time, and checks as fast.
const code = { optimize: false, regExp: Object.assign(boundedRegExp, { code: "new RegExp" }) };

/** The compilers with their meta-schemas, read at the start: that takes longer than most schemas may. */
const drafts = [
  { url: "https://json-schema.org/draft/2020-12/schema", Compiler: Ajv2020, judge: new Ajv2020(options) },
  { url: "http://json-schema.org/draft-07/schema", Compiler: Ajv, judge: new Ajv(options) },
] as const;
for (const { judge } of drafts) void judge.validateSchema({});

/** Finds the draft that `$schema` names, with `http` or `https` and with or without `#`; without it 2020-12. */
function draftOf($schema: unknown) {
  const plain = (url: string) => url.replace(/^https?:/, "").replace(/#$/, "");
  const found = $schema === undefined ? drafts[0] : drafts.find(({ url }) => plain(url) === plain(String($schema)));
  if (found) return found;
  throw new Error(`\`$schema\` must be ${drafts.map(({ url }) => url).join(" or ")}, or absent.`);
}

/** Compiles an untrusted JSON Schema. Patterns and `uniqueItems` can take for ever: a limit outside ends the work. */
export function compileSchema(schema: object): Bounded<ValidateFunction> {
  return bounded(compileMsMax, () => {
    const { $schema, ...plain } = schema as Record<string, unknown>;
    const { Compiler, judge } = draftOf($schema);
    void judge.validateSchema(plain, true);
    // A new compiler for each try: an interrupted compiler takes the schema for one that it is still compiling.
    const validate = new Compiler({ ...options, code, validateSchema: false }).compile(plain);
    // The engine compiles the code at its first call.
    validationOf(validate, null);
    return validate;
  });
}

/** Checks data against a schema: all of them, or it is out of time. */
export const checkData = (
  validate: ValidateFunction,
  data: readonly unknown[],
  msMax: number,
): Bounded<(Misfit | null)[]> => bounded(msMax, () => data.map((one) => validationOf(validate, one)));

/** Data that the schema cannot be applied to, such as by an endless reference, do not fit. */
function validationOf(validate: ValidateFunction, data: unknown): Misfit | null {
  try {
    return validate(data) ? null : misfitOf(validate.errors ?? []);
  } catch {
    return { pointer: "", message: "cannot be checked against this schema" };
  }
}

function boundedRegExp(pattern: string, flags: string): RegExp {
  if (pattern.length > patternCharactersMax)
    throw new Error(`A pattern has at most ${patternCharactersMax} characters.`);
  return new RegExp(pattern, flags);
}

function misfitOf([first]: readonly ErrorObject[]): Misfit {
  return { pointer: first?.instancePath ?? "", message: first?.message ?? "does not match the schema" };
}

type Bounded<T> =
  | { readonly outcome: "done"; readonly result: T }
  | { readonly outcome: "failed"; readonly message: string }
  | { readonly outcome: "timeout" }
  | Starved;

/** The end of work that got no processor: it says nothing about the schema. */
export interface Starved {
  readonly outcome: "starved";
}

const sandbox = createContext({ work: () => {} });
const call = new Script("work()");

/**
 * Runs the work with a limit of processor time. Only the timer comes from the sandbox: the work runs outside it, as
 * always. The timer measures wall time, so work that had no processor meanwhile is repeated with more of it.
 */
function bounded<T>(workMsMax: number, work: () => T): Bounded<T> {
  sandbox.work = work;
  const giveUpAtMs = systemClock.steadyMs() + waitMsMax;
  try {
    for (let tries = 1; ; tries++) {
      const startedMs = workedMs();
      try {
        return {
          outcome: "done",
          result: call.runInContext(sandbox, { timeout: workMsMax * Math.min(2 ** (tries - 1), slowestShare) }) as T,
        };
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") return { outcome: "failed", message };
        if (workedMs() - startedMs >= workMsMax * 0.9) return { outcome: "timeout" };
        if (systemClock.steadyMs() >= giveUpAtMs) return { outcome: "starved" };
      }
    }
  } finally {
    sandbox.work = () => {};
  }
}

export function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
