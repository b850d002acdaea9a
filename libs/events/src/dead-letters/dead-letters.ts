import { deadLetterTopic } from "@signalbox/contracts";
import { type Clock, randomId, type ServiceName } from "@signalbox/core";
import type { Logger, Metrics } from "@signalbox/runtime";
import type { EventLog, LogRecord, ReceivedRecord } from "../log/event-log.ts";

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
export function recordOf(topic: string, record: ReceivedRecord, reason: DeadLetterReason, time: Date): LogRecord {
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
function readDeadLetter({ key, headers: all, value }: ReceivedRecord): DeadLetter | null {
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

/** The dead letters of a service: the messages that it gave up. */
export interface DeadLetters {
  /** Resolves once the message is stored there. @throws PublishError */
  add(record: ReceivedRecord, reason: DeadLetterReason): Promise<void>;
}

export interface DeadLettersOptions {
  readonly service: ServiceName;
  readonly eventLog: EventLog;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

export function createDeadLetters({ service, eventLog, log, metrics, clock }: DeadLettersOptions): DeadLetters {
  const count = metrics.counter("signalbox_dead_letters_total");
  return {
    async add(record, reason) {
      await eventLog.publish([recordOf(deadLetterTopic(service), record, reason, clock.now())]);
      count.inc({ consumer: reason.consumer });
      const { topic, partition, offset, key, headers } = record;
      log.error(
        { ...reason, topic, partition, offset: String(offset), key, event: headers.ce_id },
        "a message went to the dead letters",
      );
    },
  };
}

/** A dead letter of a list, which has the size of its body in place of the body. */
export type ListedDeadLetter = Omit<DeadLetter, "value"> & { readonly bytes: number };

/** Largest number of letters that a list holds in memory; when some of them are gone, others are listed. */
const lettersMax = 10_000;

/** Lists dead letters of a service that were neither replayed nor dropped, oldest first. */
export async function list(eventLog: EventLog, service: ServiceName): Promise<ListedDeadLetter[]> {
  const letters = new Map<string, ListedDeadLetter>();
  await readLetters(eventLog, service, (key, letter) => {
    if (!letter) return void letters.delete(key);
    if (letters.size >= lettersMax && !letters.has(key)) return;
    const { value, ...listed } = letter;
    letters.set(key, { ...listed, bytes: value?.length ?? 0 });
  });
  return [...letters.values()].sort((a, b) => a.time.getTime() - b.time.getTime());
}

/** Finds a dead letter that was neither replayed nor dropped, with its body. */
export async function find(eventLog: EventLog, service: ServiceName, id: string): Promise<DeadLetter | null> {
  let found: DeadLetter | null = null;
  await readLetters(eventLog, service, (key, letter) => {
    if (key === id) found = letter;
  });
  return found;
}

/** Reads the topic of dead letters to its present end; a tombstone is passed as null. */
async function readLetters(
  eventLog: EventLog,
  service: ServiceName,
  onLetter: (key: string, letter: DeadLetter | null) => void,
): Promise<void> {
  const reader = await eventLog.broadcast({
    service,
    instance: randomId("dead-letters"),
    topics: [deadLetterTopic(service)],
    from: "start",
    onRecord: (record) => onLetter(record.key, readDeadLetter(record)),
  });
  try {
    await reader.caughtUp;
  } finally {
    await reader.close();
  }
}

/** Builds the tombstone that removes a letter for good. */
export function droppedLetter(service: ServiceName, id: string): LogRecord {
  return { topic: deadLetterTopic(service), key: id, headers: {}, value: null };
}

/** Builds the message as its consumer received it first. */
export function receivedAgain({ origin, headers, value, time }: DeadLetter): ReceivedRecord {
  return { ...origin, headers, value, timestampMs: time.getTime() };
}
