import type { Caller } from "@signalbox/auth";
import { timeOfPublicId } from "@signalbox/core";
import {
  binaryColumnsOf,
  type ListRange,
  newestFirst,
  type Pool,
  type RetentionRule,
  rangeValues,
  sql,
  type Tx,
} from "@signalbox/storage";
import { eventTimeOf } from "../deliveries/delivery-id.ts";
import { keyColumns, noteColumns, type PublishedId, publishedKey } from "./outgoing-event.ts";

/** An event with the bytes that its deliveries post. */
export interface StoredEvent {
  readonly id: string;
  readonly type: string;
  readonly body: Buffer;
  readonly createdAt: Date;
}

/** The event of a delivery. */
export interface DeliveredEvent extends StoredEvent {
  readonly deliveryId: string;
}

/** Reader of events. Copies of other accounts' events are only for administrators of all accounts. */
interface EventReader {
  readonly accountId: string;
  readonly seesOthers: boolean;
}

export const readerOf = ({ accountId, scopes }: Pick<Caller, "accountId" | "scopes">): EventReader => ({
  accountId,
  seesOthers: scopes.has("account:admin"),
});

export interface EventFilter {
  /** A name, or a prefix that ends in `*`. */
  readonly type?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

const columns = `id, type, body, created_at as "createdAt"`;
const list = sql(
  "event.list",
  `select ${columns} from webhook_events
   where account_id = $1 and ($9 or about_account_id is null) and ($2::text is null or type = $2) and ($3::text is null or starts_with(type, $3))
     and created_at >= $4 and created_at <= $6 and created_at < $5 and ${newestFirst(6)}`,
);
const find = sql(
  "event.find",
  `select ${columns} from webhook_events
   where account_id = $1 and id = $2 and created_at between $3 and $4 and ($5 or about_account_id is null) order by created_at limit 1`,
);
const ofDeliveries = sql(
  "event.of-deliveries",
  `select d.id as "deliveryId", e.id, e.type, e.body, e.created_at as "createdAt"
   from unnest($2::text[], $3::timestamptz[]) as given (wanted, at) cross join lateral (
     select * from deliveries where id = given.wanted and created_at = given.at and account_id = $1 offset 0) as d
   cross join lateral (
     select * from webhook_events where account_id = $1 and created_at = d.created_at and id = d.event_id
       and ($4 or about_account_id is null) offset 0) as e`,
);
const findPublished = sql(
  "event.find-published",
  `select created_at as at from published_events where account_id = $1 and id = $2`,
);
/** In one order, so that two transactions with the same ids do not wait for each other. */
const notePublished = sql(
  "event.note-published",
  `insert into published_events (account_id, id, digest, created_at)
   select * from unnest($1::text[], $2::text[], $3::bytea[], $4::timestamptz[]) as given (account_id, id, digest, at)
   order by account_id, id
   on conflict do nothing returning account_id as "accountId", id`,
);
const knownPublished = sql(
  "event.known-published",
  `select account_id as "accountId", id, digest
   from unnest($1::text[], $2::text[]) as given (account_id, id) join published_events using (account_id, id)`,
);
const forgetPublished = sql(
  "event.forget-published",
  `delete from published_events as p using unnest($1::text[], $2::text[]) as given (account_id, id)
   where p.account_id = given.account_id and p.id = given.id`,
);

const beginning = new Date(0);
const endOfTime = new Date("9999-12-31T00:00:00.000Z");
/** An id may be made a moment before or after the time of its event, by the clock of another instance. */
const idSkewMs = 3_600_000;

/** Stores the events of accounts, as their subscribers get them. */
export function createEventStore(pool: Pool) {
  return {
    async list(
      { accountId, seesOthers }: EventReader,
      { type, from, to }: EventFilter,
      range: ListRange,
    ): Promise<StoredEvent[]> {
      const isPrefix = type?.endsWith("*") ?? false;
      const names = [isPrefix ? null : (type ?? null), isPrefix ? type?.slice(0, -1) : null];
      const values = [accountId, ...names, from ?? beginning, to ?? endOfTime, ...rangeValues(range), seesOthers];
      return (await pool.query<StoredEvent>(list, values)).rows;
    },

    async find({ accountId, seesOthers }: EventReader, id: string): Promise<StoredEvent | null> {
      const [published] = (await pool.query<{ at: Date }>(findPublished, [accountId, id])).rows;
      const around = published?.at.getTime() ?? timeIn(id);
      if (around === null) return null;
      const skewMs = published ? 0 : idSkewMs;
      const values = [accountId, id, new Date(around - skewMs), new Date(around + skewMs), seesOthers];
      return (await pool.query<StoredEvent>(find, values)).rows[0] ?? null;
    },

    /** Returns the events of the account's deliveries, by delivery id. */
    async ofDeliveries({ accountId, seesOthers }: EventReader, ids: readonly string[]): Promise<DeliveredEvent[]> {
      const known = ids.filter((id) => eventTimeOf(id) !== null);
      return (await pool.query<DeliveredEvent>(ofDeliveries, [accountId, known, known.map(eventTimeOf), seesOthers]))
        .rows;
    },

    /**
     * Records ids that their publishers chose, and returns the keys of the new ones. A concurrent publication of the
     * same id waits.
     */
    async notePublished(tx: Tx, ids: readonly PublishedId[]): Promise<Set<string>> {
      if (ids.length === 0) return new Set();
      return new Set(
        (await tx.query<PublishedId>(notePublished, binaryColumnsOf(ids, noteColumns))).rows.map(publishedKey),
      );
    },

    /** Returns the digests of known ids, by key. */
    async digestsOf(tx: Tx, ids: readonly PublishedId[]): Promise<Map<string, Buffer>> {
      if (ids.length === 0) return new Map();
      const { rows } = await tx.query<PublishedId>(knownPublished, binaryColumnsOf(ids, keyColumns));
      return new Map(rows.map((row) => [publishedKey(row), row.digest]));
    },

    async forgetPublished(tx: Tx, ids: readonly PublishedId[]): Promise<void> {
      if (ids.length > 0) await tx.query(forgetPublished, binaryColumnsOf(ids, keyColumns));
    },
  };
}

export type EventStore = ReturnType<typeof createEventStore>;

export const publishedRetention = (keepMs: () => number): RetentionRule => ({
  name: "trim ids of published events",
  table: "published_events",
  column: "created_at",
  keepMs,
});

/** Returns the time in a UUIDv7 or in one of our ids; null for any other id. */
function timeIn(id: string): number | null {
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/.test(id)) return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  return id.startsWith("evt_") ? timeOfPublicId(id) : null;
}
