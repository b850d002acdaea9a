import type { LogRecord, ReceivedRecord } from "../event-log.ts";

/** The consumer that gave a message up, and why. */
export interface DeadLetterReason {
  /** The group that could not handle it: `<service>.<name>`. */
  readonly consumer: string;
  readonly reason: string;
  readonly attempts: number;
}

/** A message that was given up, as an operator sees it. */
export interface DeadLetter extends DeadLetterReason {
  /** `<consumer>/<topic>/<partition>/<offset>`: the same however often the message is given up. */
  readonly id: string;
  readonly time: Date;
  readonly origin: {
    readonly topic: string;
    readonly partition: number;
    readonly offset: bigint;
    readonly key: string;
  };
  /** The headers of the message itself. */
  readonly headers: Readonly<Record<string, string>>;
  readonly value: Buffer | null;
}

const prefix = "dead-letter-";

/** Names the consumer of a replayed message; other consumers skip it. */
export const replayForHeader = "signalbox-replay-for";

/**
 * Builds the record of a dead letter. Its key is its id, so a tombstone removes it and a repetition replaces it. A null
 * value would look like that tombstone: it is marked and kept as an empty one.
 */
export function deadLetterRecord(
  topic: string,
  record: ReceivedRecord,
  reason: DeadLetterReason,
  time: Date,
): LogRecord {
  const { [replayForHeader]: _, ...headers } = record.headers;
  return {
    topic,
    key: `${reason.consumer}/${record.topic}/${record.partition}/${record.offset}`,
    headers: {
      ...headers,
      [`${prefix}consumer`]: reason.consumer,
      [`${prefix}reason`]: reason.reason.toWellFormed().slice(0, 2_000),
      [`${prefix}attempts`]: String(reason.attempts),
      [`${prefix}time`]: time.toISOString(),
      [`${prefix}topic`]: record.topic,
      [`${prefix}partition`]: String(record.partition),
      [`${prefix}offset`]: String(record.offset),
      [`${prefix}key`]: record.key,
      ...(record.value === null && { [`${prefix}tombstone`]: "true" }),
    },
    value: record.value ?? Buffer.alloc(0),
  };
}

/** Reads a dead letter back; null for any other record. */
export function readDeadLetter({ key, headers: all, value }: ReceivedRecord): DeadLetter | null {
  const field = (name: string) => all[`${prefix}${name}`] ?? "";
  if (value === null || field("consumer") === "") return null;
  return {
    id: key,
    consumer: field("consumer"),
    reason: field("reason"),
    attempts: Number(field("attempts")),
    time: new Date(field("time")),
    origin: {
      topic: field("topic"),
      partition: Number(field("partition")),
      offset: BigInt(field("offset") || 0),
      key: field("key"),
    },
    headers: Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith(prefix))),
    value: field("tombstone") === "true" ? null : value,
  };
}

/** Rebuilds the original message, with its `ce_id`, for the one consumer that gave it up. */
export function replayRecord(letter: DeadLetter): LogRecord {
  const { topic, key } = letter.origin;
  return { topic, key, headers: { ...letter.headers, [replayForHeader]: letter.consumer }, value: letter.value };
}
