/**
 * The outcome of a message: `handled`; `repeated`, its effect had already happened; `queued` behind a parked message of
 * its key; `parked` after a failure; `dead`, given up.
 */
export type MessageOutcome = "handled" | "repeated" | "queued" | "parked" | "dead";

/** Work that was broken off because the consumer stops or lost its partition. The message comes again. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** Formats a failure in one line, for the log and for the reason of a parked message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return `${error.name}: ${error.message}${cause}`;
}
