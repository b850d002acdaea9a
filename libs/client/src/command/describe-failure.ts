import { ApiError } from "../answers.ts";
import { SubscriptionError } from "../live.ts";
import { NoAnswer, reasonOf } from "./exchange.ts";
import { type ExitCode, exitCodeOf, exitCodes, Failure } from "./failures.ts";

/** A failure as it is printed. */
interface Described {
  readonly exitCode: ExitCode;
  readonly lines: readonly string[];
  readonly json: object;
}

/** Describes whatever a command threw: the code, message, fields and request of a refusal, or the sentence of a failure. */
export function describeFailure(error: unknown): Described {
  if (error instanceof ApiError) return describeRefusal(error);
  const failure = error instanceof Failure ? error : explained(error);
  const code = Object.entries(exitCodes).find(([, value]) => value === failure.exitCode)?.[0] ?? "failed";
  return {
    exitCode: failure.exitCode,
    lines: [failure.message],
    json: { error: { code, message: failure.message } },
  };
}

function describeRefusal({ status, code, message, details, requestId, docUrl }: ApiError): Described {
  const fields = details.map((one) => `  ${[one.field, one.message].filter(Boolean).join(": ")}`);
  const more = [requestId && `  request ${requestId}`, docUrl && `  ${docUrl}`].filter((line) => Boolean(line));
  return {
    exitCode: exitCodeOf(status),
    lines: [`${code}: ${message}`, ...fields, ...(more as string[])],
    json: { error: { code, message, details, request_id: requestId, doc_url: docUrl } },
  };
}

/** Explains an answer that broke off, a file that cannot be used, and what nobody expected. */
function explained(error: unknown): Failure {
  if (!(error instanceof Error)) return new Failure(`Unexpected: ${String(error)}`);
  if (error instanceof SubscriptionError) return new Failure(`${error.code.toLowerCase()}: ${error.message}`);
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (code === "EISDIR") return new Failure(`${path ?? "A folder"} cannot be read as a file.`, exitCodes.usage);
  if (syscall !== undefined) return new Failure(`${path ?? "Standard input"} cannot be used: ${code}.`);
  if (error instanceof TypeError && error.cause instanceof Error)
    return new NoAnswer(`The response was cut off: ${reasonOf(error)}.`, error);
  // How code fails that meets `null` or a list where it expects an object.
  const what = error instanceof TypeError ? "A response has an unexpected form" : `Unexpected: ${error.message}`;
  return new Failure(`${what}. Is this the address of a Signalbox? SIGNALBOX_DEBUG=1 prints more.`);
}
