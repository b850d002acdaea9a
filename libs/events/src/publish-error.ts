export type PublishErrorReason = "too-large" | "unknown-topic" | "invalid" | "unavailable";

/**
 * Records were not appended, or it is not known whether they were. Only `unavailable` may pass by waiting;
 * the others name what is wrong with the records.
 */
export class PublishError extends Error {
  override readonly name = "PublishError";
  readonly reason: PublishErrorReason;
  /** The topic at fault, when one is known to be. */
  readonly topic: string | undefined;

  constructor(reason: PublishErrorReason, message: string, options: { topic?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.topic = options.topic;
  }

  get retriable(): boolean {
    return this.reason === "unavailable";
  }
}
