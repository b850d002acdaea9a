export type PublishErrorReason = "too-large" | "unknown-topic" | "invalid" | "unavailable";

/** A partition of a topic, among how many. */
export interface PartitionAtFault {
  readonly topic: string;
  readonly partition: number;
  readonly partitions: number;
}

interface PublishErrorOptions {
  readonly topic?: string;
  readonly partitions?: readonly PartitionAtFault[];
  readonly cause?: unknown;
}

/**
 * Records were not appended, or it is not known whether they were. Only `unavailable` may pass by waiting;
 * the others name what is wrong with the records.
 */
export class PublishError extends Error {
  override readonly name = "PublishError";
  readonly reason: PublishErrorReason;
  /** The topic at fault, when one is known to be. */
  readonly topic: string | undefined;
  /** The partitions that did not take their records, when only they are at fault: what belongs to others is on the log. */
  readonly partitions: readonly PartitionAtFault[];

  constructor(reason: PublishErrorReason, message: string, options: PublishErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.topic = options.topic;
    this.partitions = options.partitions ?? [];
  }

  get retriable(): boolean {
    return this.reason === "unavailable";
  }
}
