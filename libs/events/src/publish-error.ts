export type PublishErrorReason = "too-large" | "unknown-topic" | "invalid" | "unavailable";

/** A partition at fault, and the number of partitions of its topic. */
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
 * Thrown when records were not appended, or when that is unknown. Only `unavailable` may pass by waiting; the other
 * reasons name a fault of the records.
 */
export class PublishError extends Error {
  override readonly name = "PublishError";
  readonly reason: PublishErrorReason;
  /** The topic at fault, when known. */
  readonly topic: string | undefined;
  /** The partitions that did not take their records, when only they are at fault: all other records are on the log. */
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
