import { columnsOf, type Queryable, sql, type Tx } from "@signalbox/storage";
import type { LeasedDelivery } from "../deliveries/delivery.ts";
import { deliveryIdOf } from "../deliveries/delivery-id.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";

/** A consumer of a pull endpoint: the endpoint itself, or one with a name, which reads the same stream at its own place. */
export interface Consumer {
  /** Null for the endpoint itself. */
  readonly name: string | null;
  /** The start as its owner gave it: `now`, a time or the id of an event. Null for the endpoint itself. */
  readonly start: string | null;
  readonly createdAt: Date;
  /** False while the deliveries since its start are being copied; it gets no messages until then. */
  readonly isReady: boolean;
  readonly lag: number;
  readonly leased: number;
  /** Time of the oldest event that it has not acknowledged. */
  readonly oldestAt: Date | null;
}

/** A consumer whose earlier deliveries are being copied, and the place of the copy. */
interface Unfilled {
  readonly id: string;
  readonly endpointId: string;
  readonly placeTime: Date;
  readonly placeId: string;
}

type Copied = Omit<LeasedDelivery, "body" | "traceparent" | "attempts" | "wasExhausted" | "purpose" | "dueAt">;

/** Upper bound of a count: nobody needs a larger exact figure. */
const countedMax = 100_000;
/** Deliveries that are copied in one transaction. */
const stepMax = 1_000;

const find = sql(
  "consumer.find",
  `select coalesce(c.start, '') as start, p.deleted_at is not null as "isLeaving"
   from endpoints as p left join pull_consumers as c on c.endpoint_id = p.id where p.id = $1`,
);
const count = sql(
  "consumer.count",
  "select count(*)::int as count from endpoints where consumer_of = $1 and deleted_at is null",
);
const insert = sql(
  "consumer.insert",
  `with numbers as (
     insert into delivery_order (endpoint_id, order_key, last_sequence, updated_at)
     select $1, order_key, last_sequence, updated_at from delivery_order where endpoint_id = $2
   )
   insert into pull_consumers (endpoint_id, start, from_time, place_time, place_id, created_at, filled_at)
   values ($1, $3, $4::timestamptz, $4::timestamptz, '', $5::timestamptz, case when $6::bool then $5::timestamptz end)`,
);
/** Not prepared, because a queue grows. */
const list = sql(
  "",
  `select p.id, c.start, coalesce(c.created_at, p.created_at) as "createdAt",
     c.endpoint_id is null or c.filled_at is not null as "isReady", (
       select count(*)::int from (
         select 1 from delivery_queue where endpoint_id = p.id limit ${countedMax}) as found) as lag, (
       select count(*)::int from delivery_queue where endpoint_id = p.id and lease_id is not null) as leased, (
       select created_at from delivery_queue where endpoint_id = p.id order by due_at limit 1) as "oldestAt"
   from endpoints as p left join pull_consumers as c on c.endpoint_id = p.id
   where (p.id = $2 or p.consumer_of = $2) and p.account_id = $1 and p.deleted_at is null order by p.id`,
);
const findUnfilled = sql(
  "consumer.find-unfilled",
  `select c.endpoint_id as id, p.consumer_of as "endpointId", place_time as "placeTime", place_id as "placeId"
   from pull_consumers as c join endpoints as p on p.id = c.endpoint_id
   where filled_at is null and p.deleted_at is null order by c.endpoint_id limit 1 for update of c skip locked`,
);
/** Not prepared, for the same reason as `recordResults`. */
const nextOf = sql(
  "",
  `select id, created_at as "createdAt", account_id as "accountId", event_id as "eventId", event_type as "eventType",
     order_key as "orderKey", sequence::float8 as sequence
   from deliveries where endpoint_id = $1 and created_at >= $2 and (created_at, id) > ($2, $3)
   order by created_at, id limit ${stepMax}`,
);
/** Ordered ones wait behind each other until all are there. */
const copy = sql(
  "",
  `with given as materialized (
     select * from unnest($2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[], $8::float8[])
       with ordinality as given (id, created_at, account_id, event_id, event_type, order_key, sequence, place)
   ), created as (
     insert into deliveries (id, created_at, endpoint_id, account_id, event_id, event_type, status, attempts, order_key,
       sequence)
     select id, created_at, $1, account_id, event_id, event_type, 'pending', 0, order_key, sequence from given
     on conflict do nothing returning id
   ), counted as (
     update webhook_events as e set deliveries = deliveries + 1 from given join created using (id)
     where e.account_id = given.account_id and e.created_at = given.created_at and e.id = given.event_id
   )
   insert into delivery_queue (endpoint_id, due_at, delivery_id, created_at, order_key, sequence)
   select $1, case when order_key is null then created_at + place * interval '1 microsecond' else 'infinity' end, id,
     created_at, order_key, sequence from given join created using (id)`,
);
const advance = sql(
  "consumer.advance",
  "update pull_consumers set place_time = $2, place_id = $3 where endpoint_id = $1",
);
/** Of each subject the first one is due now and the others wait, whether they were copied or came meanwhile. */
const orderAll = sql(
  "",
  `update delivery_queue as q
   set due_at = case when q.sequence = first.sequence then statement_timestamp() else 'infinity' end
   from (
     select order_key, min(sequence) as sequence from delivery_queue
     where endpoint_id = $1 and order_key is not null group by order_key) as first
   where q.endpoint_id = $1 and q.order_key = first.order_key
     and (q.sequence = first.sequence) = (q.due_at = 'infinity')`,
);
const fill = sql("consumer.fill", "update pull_consumers set filled_at = statement_timestamp() where endpoint_id = $1");

/** Finds a named consumer; `isLeaving` while the rows of a deleted one of this name are being removed. */
export const findConsumer = async (tx: Tx, id: string) =>
  (await tx.query<{ start: string; isLeaving: boolean }>(find, [id])).rows[0] ?? null;

export const countConsumers = async (tx: Tx, endpointId: string): Promise<number> =>
  (await tx.query<{ count: number }>(count, [endpointId])).rows[0]?.count ?? 0;

/** Inserts the start of a consumer; its sequence numbers go on after those of the endpoint. */
export async function insertConsumer(tx: Tx, { id, consumerOf }: Endpoint, start: string, from: Date | null, at: Date) {
  await tx.query(insert, [id, consumerOf, start, from ?? at, at, from === null]);
}

/** Returns the consumers of an endpoint of the account, the endpoint itself first. */
export async function listConsumers(db: Queryable, accountId: string, endpointId: string): Promise<Consumer[]> {
  const { rows } = await db.query<Consumer & { id: string }>(list, [accountId, endpointId]);
  return rows.map(({ id, ...rest }) => ({ ...rest, name: id.split(":")[1] ?? null }));
}

export const lockUnfilled = async (tx: Tx): Promise<Unfilled | null> =>
  (await tx.query<Unfilled>(findUnfilled)).rows[0] ?? null;

/** Copies the next deliveries of the endpoint for its consumer; returns true when there are none after them. */
export async function copyNext(tx: Tx, { id, endpointId, placeTime, placeId }: Unfilled): Promise<boolean> {
  const { rows } = await tx.query<Copied>(nextOf, [endpointId, placeTime, placeId]);
  const columns = columnsOf(rows, [
    ({ eventId, createdAt }) => deliveryIdOf(eventId, createdAt, id),
    ({ createdAt }) => createdAt,
    ({ accountId }) => accountId,
    ({ eventId }) => eventId,
    ({ eventType }) => eventType,
    ({ orderKey }) => orderKey,
    ({ sequence }) => sequence,
  ]);
  if (rows.length > 0) await tx.query(copy, [id, ...columns]);
  const last = rows.at(-1);
  if (last !== undefined) await tx.query(advance, [id, last.createdAt, last.id]);
  return rows.length < stepMax;
}

/** Ends the copying: from now on the consumer gets messages. */
export async function endCopy(tx: Tx, id: string): Promise<void> {
  await tx.query(orderAll, [id]);
  await tx.query(fill, [id]);
}
