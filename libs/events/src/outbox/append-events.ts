import { type EventDraft, type EventName, eventOf, topics } from "@signalbox/contracts";
import { AppError, type Clock, uuidv7 } from "@signalbox/core";
import type { Tracer } from "@signalbox/runtime";
import { sqlRows, type Tx } from "@signalbox/storage";
import { encodeEvent } from "../envelope/encode-event.ts";
import type { LogRecord } from "../log/event-log.ts";
import { keyHash } from "../log/partition-of.ts";

export interface AppendParts {
  readonly service: string;
  readonly clock: Clock;
  readonly tracer: Tracer;
  /** Largest payload in bytes. Topics and readers take twice as much, so an accepted event always fits. */
  readonly maxBytes: number;
}

export interface AppendOptions {
  /** Time at which the fact became true. Default: now. */
  readonly time?: Date;
  /** The trace to continue instead of the current one. */
  readonly traceparent?: string;
}

export interface Appended {
  readonly eventIds: string[];
  /** Available once the transaction has committed. */
  readonly shards: () => number[];
}

const insertRows = sqlRows(
  "outbox.append",
  "($1::uuid, hashtext($3::text) & 7, $2::text, $3::text, $4::text, $5::bytea, $6::int)",
  (rows) =>
    `insert into signalbox.outbox (event_id, shard, topic, key, headers, payload, key_hash)
     ${rows} returning shard::int`,
);

/**
 * Writes the events into the outbox of the transaction, in the given order, with one statement.
 * @throws AppError `payload_too_large` when an event has more bytes than allowed; the caller's transaction rolls back.
 */
export async function appendEvents(
  tx: Tx,
  drafts: readonly EventDraft<EventName>[],
  options: AppendOptions,
  parts: AppendParts,
): Promise<Appended> {
  if (drafts.length === 0) return { eventIds: [], shards: () => [] };
  const prepared = prepareEvents(drafts, options, parts);
  return insert(
    tx,
    prepared.map(({ eventId, topic, key, headers, payload, keyHash }) => [
      eventId,
      topic,
      key,
      headers,
      payload,
      keyHash,
    ]),
  );
}

/** An event as the outbox stores it. */
export interface PreparedEvent {
  readonly eventId: string;
  readonly topic: string;
  readonly key: string;
  /** JSON */
  readonly headers: string;
  readonly payload: Buffer;
  readonly keyHash: number;
}

/** Encodes events for the outbox. @throws AppError `payload_too_large` when one has more bytes than allowed. */
export function prepareEvents(
  drafts: readonly EventDraft<EventName>[],
  options: AppendOptions,
  { service, clock, tracer, maxBytes }: AppendParts,
): PreparedEvent[] {
  const time = options.time ?? clock.now();
  const traceparent = options.traceparent ?? tracer.traceparent();
  return drafts.map((draft) => {
    const id = uuidv7(clock.nowMs());
    const { topic, key, headers, value } = encodeEvent(draft, { service, id, time, traceparent });
    if (value.length > maxBytes) throw tooLarge(draft.name, value.length, maxBytes);
    return { eventId: id, topic, key, headers: JSON.stringify(headers), payload: value, keyHash: keyHash(key) };
  });
}

/**
 * Builds the insert of prepared events as a part of a statement that also writes their change: `rows` is a select of
 * event_id, topic, key, headers, payload and key_hash. It returns the shards, for `Outbox.announce`.
 */
export const outboxInsert = (rows: string): string =>
  `insert into signalbox.outbox (event_id, shard, topic, key, headers, payload, key_hash)
   select event_id, hashtext(key) & 7, topic, key, headers, payload, key_hash from (${rows}) as event returning shard::int`;

/** Writes a tombstone for each subject of an event whose topic is compacted. @throws Error when it is not. */
export async function appendTombstones(
  tx: Tx,
  name: EventName,
  subjects: readonly string[],
  { clock }: Pick<AppendParts, "clock">,
): Promise<Appended> {
  const { topic } = eventOf(name);
  if (topics.find((spec) => spec.name === topic)?.cleanup !== "compact") throw new Error(`${topic} is not compacted`);
  if (subjects.length === 0) return { eventIds: [], shards: () => [] };
  const rows = subjects.map((subject) => [uuidv7(clock.nowMs()), topic, subject, "{}", null, keyHash(subject)]);
  return insert(tx, rows);
}

/** Writes records as they are: messages that an operator moves, and tombstones. */
export async function appendRecords(
  tx: Tx,
  records: readonly LogRecord[],
  { clock }: Pick<AppendParts, "clock">,
): Promise<Appended> {
  if (records.length === 0) return { eventIds: [], shards: () => [] };
  const rows = records.map(({ topic, key, headers, value }) => {
    return [uuidv7(clock.nowMs()), topic, key, JSON.stringify(headers), value, keyHash(key)];
  });
  return insert(tx, rows);
}

/** Inserts rows of id, topic, key, headers, payload and hash of the key. */
async function insert(tx: Tx, rows: readonly (readonly unknown[])[]): Promise<Appended> {
  const inserted = await tx.query<{ shard: number }>(insertRows.ofRows(rows.length), rows.flat());
  return { eventIds: rows.map(([id]) => String(id)), shards: () => inserted.rows.map((row) => row.shard) };
}

function tooLarge(name: string, bytes: number, bytesMax: number): AppError {
  return new AppError("payload_too_large", "The change is too large for one event.", {
    cause: new Error(`event ${name} has ${bytes} bytes, at most ${bytesMax} are allowed`),
  });
}
