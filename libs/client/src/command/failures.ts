/** Exit codes of the command. They are part of its interface. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  notFound: 4,
  unavailable: 5,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The meaning of each exit code, for the help and the reference. */
export const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: "Success",
  failed: "Failure, or the API refused the request for a reason not listed below",
  usage: "Invalid command line, or a confirmation was needed without a terminal",
  refused: "Not signed in, or the credential lacks permission",
  notFound: "Not found",
  unavailable: "No response, or Signalbox asks to try again later",
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

/** Returns the exit code of a refusal with this status. */
export function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return exitCodes.refused;
  if (status === 404 || status === 410) return exitCodes.notFound;
  return status === 429 || (status >= 502 && status <= 504) ? exitCodes.unavailable : exitCodes.failed;
}

/** Returns the answer. @throws Failure when one of these members is no text: another server has answered */
export function withTexts<Answer extends object>(answer: Answer, ...names: readonly (keyof Answer)[]): Answer {
  if (names.every((name) => typeof answer?.[name] === "string")) return answer;
  throw new Failure("A response has an unexpected form. Is this the address of a Signalbox?");
}
