import { ApiError } from "@signalbox/client";

/** Exit codes of the command. They are part of its interface. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  notFound: 4,
  unavailable: 5,
} as const;

type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The meaning of each exit code, for the help and the reference. */
export const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: "The command did what it was asked to do",
  failed: "It failed, or the API refused the request for another reason than those below",
  usage: "The command line is wrong, or an answer was needed and there is no terminal to ask at",
  refused: "Not signed in, or the credential may not do this",
  notFound: "There is no such thing",
  unavailable: "No answer, or Signalbox asks to try again later",
};

/** An error of the person's making, or one that is explained in a sentence; no stack is printed. */
export class Failure extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exitCodes.failed, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** A wrong command line. */
export class UsageError extends Failure {
  constructor(message: string) {
    super(message, exitCodes.usage);
  }
}

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

/** Returns the exit code of a refusal with this status. */
export function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return exitCodes.refused;
  if (status === 404 || status === 410) return exitCodes.notFound;
  return status === 429 || (status >= 502 && status <= 504) ? exitCodes.unavailable : exitCodes.failed;
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
