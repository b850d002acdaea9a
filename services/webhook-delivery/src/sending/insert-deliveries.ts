import { type BinaryColumn, binaryColumnsOf, type Queryable, sql } from "@signalbox/storage";
import type { LeasedDelivery } from "../deliveries/delivery.ts";
import type { OrderPlace } from "../deliveries/delivery-order.ts";
import { type NewEvent, noteColumns, type PublishedId } from "../events/outgoing-event.ts";
import { fingerprintOf, operators } from "./signing-endpoint.ts";

export interface NewDelivery {
  readonly id: string;
  readonly event: NewEvent;
  readonly endpointId: string;
  /** True when this instance makes the first attempt at once, from memory. */
  readonly leased: boolean;
  readonly delayMs: number;
  readonly order: (OrderPlace & { readonly key: string }) | null;
}

/** Fingerprint of an account's endpoints at the time when its deliveries were planned; see `EndpointCache`. */
export interface Fingerprint {
  readonly accountId: string;
  readonly fingerprint: string;
}

/** Writes nothing when endpoints differ from those in memory. Waiting deliveries go out in the order of their rows. */
const insertText = (given: string, noted = "", fresh = "") => `with stale as materialized (
     select given.account_id from unnest($1::text[], $2::numeric[]) as given (account_id, fingerprint)
     cross join lateral (
       select ${fingerprintOf("p")} as fingerprint from endpoints p
       where p.account_id = given.account_id and deleted_at is null) as now
     where now.fingerprint <> given.fingerprint
     union all
     select '${operators}' from (
       select ${fingerprintOf("p")} as fingerprint from endpoints p where scope = 'all' and deleted_at is null) as now
     where now.fingerprint <> $24::numeric
   )${noted}, given as materialized (
     select * from unnest($3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bool[],
       $10::int[], $20::text[], $21::float8[], $22::bool[]) with ordinality
       as given (id, created_at, endpoint_id, account_id, event_id, event_type, leased, delay_ms, order_key, sequence,
         waits, place)
     where not exists (select from stale)${given}
   ), created as (
     insert into deliveries (id, created_at, endpoint_id, account_id, event_id, event_type, status, attempts, order_key,
       sequence, next_attempt_at)
     select id, created_at, endpoint_id, account_id, event_id, event_type, 'pending', 0, order_key, sequence,
       case when delay_ms > 0 and not waits then least(created_at, statement_timestamp()) + delay_ms * interval '1 ms' end
     from given on conflict do nothing returning id
   ), counted as (
     insert into delivery_order as o (endpoint_id, order_key, last_sequence, updated_at)
     select endpoint_id, order_key, max(sequence), statement_timestamp() from given
     where order_key is not null group by endpoint_id, order_key
     on conflict (endpoint_id, order_key) do update
       set last_sequence = excluded.last_sequence, updated_at = excluded.updated_at
   ), stored as (
     insert into webhook_events (id, account_id, type, body, traceparent, created_at, deliveries, about_account_id, about_id)
     select * from unnest($11::text[], $12::text[], $13::text[], $14::bytea[], $15::text[], $16::timestamptz[], $17::int[],
       $23::text[], $26::text[]) as given (event_id, account_id)
     where not exists (select from stale)${given} on conflict do nothing
   ), queued as (
     insert into delivery_queue (endpoint_id, due_at, delivery_id, created_at, leased_by, order_key, sequence)
     select endpoint_id,
       case when waits then 'infinity' when leased then date_trunc('milliseconds', statement_timestamp()) + $18::int * interval '1 ms'
         else least(created_at, statement_timestamp()) + delay_ms * interval '1 ms' + ($25::int + place) * interval '1 microsecond' end,
       id, created_at, case when leased then $19::int end, order_key, sequence
     from given join created using (id)
   )
   select array(select account_id from stale) as stale, array(select id from created) as created,${fresh}
     date_trunc('milliseconds', statement_timestamp()) + $18::int * interval '1 ms' as "leasedUntil"`;

const insert = sql("queue.insert", insertText(""));

/** The same with the ids that publishers chose, noted in one order. An event with a known id is left out. */
const insertNoted = sql(
  "queue.insert-noted",
  insertText(
    " and not exists (select from repeated as r where r.account_id = given.account_id and r.id = given.event_id)",
    `, noted as (
     insert into published_events (account_id, id, digest, created_at)
     select * from unnest($27::text[], $28::text[], $29::bytea[], $30::timestamptz[]) as ids (account_id, id, digest, at)
     where not exists (select from stale) order by account_id, id
     on conflict do nothing returning account_id, id
   ), repeated as materialized (
     select * from unnest($27::text[], $28::text[]) as ids (account_id, id) except select account_id, id from noted
   )`,
    " array(select account_id || ' ' || id from noted) as fresh,",
  ),
);

export interface Inserted {
  /** Accounts whose endpoints have changed since the plan; then nothing is stored. */
  readonly stale: readonly string[];
  readonly created: readonly string[];
  /** Keys of the noted ids that were not known before; absent when none were to be noted. */
  readonly fresh?: readonly string[];
  readonly leasedUntil: Date;
}

type Terms = { readonly leaseMs: number; readonly instance: number | null };

/** The part of a write that comes once: the endpoints to judge, and the events with the numbers of their deliveries. */
interface OncePerWrite {
  readonly accounts: readonly Fingerprint[];
  readonly ofOperators: Fingerprint | null;
  readonly counts: ReadonlyMap<NewEvent, number>;
  readonly ids: readonly PublishedId[] | null;
}

/** Deliveries in one statement: ten thousand at once would hold the process for a tenth of a second. */
export const rowsMax = 250;

export interface EventsToKeep {
  /** Events to store even if there is no delivery of them. */
  readonly kept?: readonly NewEvent[];
  /** Ids to note; the events that have a known one are left out. For as many deliveries as one statement takes. */
  readonly ids?: readonly PublishedId[];
}

/** Stores events with their deliveries; nothing, and the account as stale, when its endpoints have changed. */
export async function insertDeliveries(
  db: Queryable,
  accounts: readonly Fingerprint[],
  ofOperators: Fingerprint | null,
  deliveries: readonly NewDelivery[],
  terms: Terms,
  { kept = [], ids }: EventsToKeep = {},
): Promise<Inserted> {
  const counts = new Map<NewEvent, number>(kept.map((event) => [event, 1]));
  for (const { event } of deliveries) counts.set(event, (counts.get(event) ?? 0) + 1);
  const once = { accounts, ofOperators, counts, ids: ids ?? null };
  const first = await insertPart(db, deliveries.slice(0, rowsMax), 0, terms, once);
  if (first.stale.length > 0) return first;
  const created = [...first.created];
  for (let from = rowsMax; from < deliveries.length; from += rowsMax) {
    const part = await insertPart(db, deliveries.slice(from, from + rowsMax), from, terms, nothing);
    for (const id of part.created) created.push(id);
  }
  return { ...first, created };
}

const nothing: OncePerWrite = { accounts: [], ofOperators: null, counts: new Map(), ids: null };

const deliveryColumns: readonly BinaryColumn<NewDelivery>[] = [
  ["text", ({ id }) => id],
  ["timestamptz", ({ event }) => event.createdAt],
  ["text", ({ endpointId }) => endpointId],
  ["text", ({ event }) => event.accountId],
  ["text", ({ event }) => event.id],
  ["text", ({ event }) => event.type],
  ["bool", ({ leased }) => leased],
  ["int4", ({ delayMs }) => delayMs],
];
const eventColumns: readonly BinaryColumn<NewEvent>[] = [
  ["text", ({ id }) => id],
  ["text", ({ accountId }) => accountId],
  ["text", ({ type }) => type],
  ["bytea", ({ body }) => body],
  ["text", ({ traceparent }) => traceparent],
  ["timestamptz", ({ createdAt }) => createdAt],
];
const orderColumns: readonly BinaryColumn<NewDelivery>[] = [
  ["text", ({ order }) => order?.key],
  ["float8", ({ order }) => order?.sequence],
  ["bool", ({ order }) => order?.waits ?? false],
];

async function insertPart(
  db: Queryable,
  deliveries: readonly NewDelivery[],
  from: number,
  { leaseMs, instance }: Terms,
  { accounts, ofOperators, counts, ids }: OncePerWrite,
): Promise<Inserted> {
  const events = [...counts.keys()];
  const { rows } = await db.query<Inserted>(ids ? insertNoted : insert, [
    accounts.map(({ accountId }) => accountId),
    accounts.map(({ fingerprint }) => fingerprint),
    ...binaryColumnsOf(deliveries, deliveryColumns),
    ...binaryColumnsOf(events, [...eventColumns, ["int4", (event) => counts.get(event)]]),
    leaseMs,
    instance,
    ...binaryColumnsOf(deliveries, orderColumns),
    ...binaryColumnsOf(events, [["text", ({ aboutAccountId }) => aboutAccountId]]),
    ofOperators?.fingerprint ?? null,
    from,
    ...binaryColumnsOf(events, [["text", ({ aboutId }) => aboutId]]),
    ...(ids ? binaryColumnsOf(ids, noteColumns) : []),
  ]);
  return rows[0] as Inserted;
}

export function leasedOf(
  { id, endpointId, event, order }: NewDelivery,
  purpose: LeasedDelivery["purpose"],
  leasedUntil: Date,
): LeasedDelivery {
  return {
    id,
    endpointId,
    accountId: event.accountId,
    eventId: event.id,
    eventType: event.type,
    body: event.body,
    traceparent: event.traceparent,
    createdAt: event.createdAt,
    attempts: 0,
    wasExhausted: false,
    purpose,
    replayId: null,
    orderKey: order?.key ?? null,
    sequence: order?.sequence ?? null,
    dueAt: event.createdAt.toISOString(),
    leasedUntil,
  };
}
