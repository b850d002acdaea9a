import { ApiError } from "../answers.ts";
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
  const failure = error instanceof Failure ? error : unanswered(error);
  if (failure === null) throw error;
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

/** Explains a request without an answer; null for an error of another kind. */
function unanswered(error: unknown): Failure | null {
  if (!(error instanceof Error)) return null;
  if (error.name === "TimeoutError") {
    return new Failure("Signalbox did not answer in time.", exitCodes.unavailable, { cause: error });
  }
  const { cause } = error;
  if (!(error instanceof TypeError && cause instanceof Error)) return null;
  const reason = "code" in cause ? String(cause.code) : cause.message;
  return new Failure(`Signalbox does not answer: ${reason}.`, exitCodes.unavailable, { cause: error });
}
