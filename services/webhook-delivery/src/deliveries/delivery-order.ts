import { columnsOf, sql, type Tx } from "@signalbox/storage";

/** Key of the deliveries of an ordered endpoint that wait for each other. */
export interface OrderKey {
  readonly endpointId: string;
  readonly orderKey: string;
}

export interface OrderPlace {
  /** 1 for the first of the key. */
  readonly sequence: number;
  /** True when another delivery of the key has to go out first. */
  readonly waits: boolean;
}

const lockText = (lock: string, kind: "order" | "stream") => `select ${lock}(place) from (
     select distinct hashtextextended('${kind}:' || id, 0) as place from unnest($1::text[]) as given (id) order by place
   ) as places`;
const lock = sql("order.lock", lockText("pg_advisory_xact_lock", "order"));
const lockStreamsShared = sql("streams.lock-shared", lockText("pg_advisory_xact_lock_shared", "stream"));
const lockStreamAlone = sql("stream.lock", "select pg_advisory_xact_lock(hashtextextended('stream:' || $1, 0))");

/** Not prepared, for the same reason as `recordResults`. Deliveries that exist already get no new place. */
const places = sql(
  "",
  `with given as (
     select * from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[]) with ordinality
       as given (id, created_at, endpoint_id, order_key, place)
   ), fresh as (
     select given.*, row_number() over (partition by endpoint_id, order_key order by place) as rank from given
     where not exists (select from deliveries as d where d.id = given.id and d.created_at = given.created_at)
   )
   select fresh.id, (coalesce(last_sequence, 0) + rank)::float8 as sequence, rank > 1 or exists (
     select from delivery_queue as q where q.endpoint_id = fresh.endpoint_id and q.order_key = fresh.order_key) as waits
   from fresh left join delivery_order using (endpoint_id, order_key)`,
);

/** Makes the next delivery due now: the waiting one with the lowest sequence. */
const advanceText = (condition: string): string => `with next as materialized (
     select k.endpoint_id, n.delivery_id from unnest($1::text[], $2::text[]) as k (endpoint_id, order_key)
     cross join lateral (
       select delivery_id from delivery_queue as q
       where q.endpoint_id = k.endpoint_id and q.order_key = k.order_key and q.due_at = 'infinity'
       order by sequence limit 1) as n
     where ${condition}
   )
   update delivery_queue as q set due_at = statement_timestamp() from next
   where q.endpoint_id = next.endpoint_id and q.due_at = 'infinity' and q.delivery_id = next.delivery_id`;
const advance = sql("", advanceText("true"));
const advanceIdle = sql(
  "",
  advanceText(`not exists (
       select from delivery_queue as q
       where q.endpoint_id = k.endpoint_id and q.order_key = k.order_key and q.due_at < 'infinity')`),
);
const hold = sql(
  "",
  `update delivery_queue as q set hold_until = statement_timestamp() + given.hold_ms * interval '1 ms'
   from unnest($1::text[], $2::text[], $3::float8[], $4::float8[]) as given (endpoint_id, order_key, sequence, hold_ms)
   where q.endpoint_id = given.endpoint_id and q.order_key = given.order_key and q.sequence = given.sequence::bigint
     and q.hold_until is null`,
);

/** Locks the order of these endpoints, before any row lock of the transaction and before the next delivery is read. */
export async function lockOrder(tx: Tx, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length > 0) await tx.query(lock, [endpointIds]);
}

/** Keeps writers of deliveries and makers of consumers apart, so that each delivery is copied or planned once. */
export async function lockStreams(tx: Tx, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length > 0) await tx.query(lockStreamsShared, [endpointIds]);
}

/** Waits for the writers of deliveries of the endpoint, and blocks others until the transaction ends. */
export async function lockStream(tx: Tx, endpointId: string): Promise<void> {
  await tx.query(lockStreamAlone, [endpointId]);
}

/** Gives new deliveries their places behind the existing ones. The caller has locked the order. */
export async function orderPlaces(
  tx: Tx,
  deliveries: readonly (OrderKey & { readonly id: string; readonly createdAt: Date })[],
): Promise<ReadonlyMap<string, OrderPlace>> {
  const columns = columnsOf(deliveries, [
    ({ id }) => id,
    ({ createdAt }) => createdAt,
    ({ endpointId }) => endpointId,
    ({ orderKey }) => orderKey,
  ]);
  const { rows } = await tx.query<OrderPlace & { id: string }>(places, columns);
  return new Map(rows.map(({ id, ...place }) => [id, place]));
}

/** Releases the next delivery of each key, after the previous one has left the queue. */
export async function advanceKeys(tx: Tx, keys: readonly OrderKey[]): Promise<void> {
  if (keys.length > 0) await tx.query(advance, keyColumns(keys));
}

/** Releases the next delivery of each key that has none due or leased. */
export async function advanceIdleKeys(tx: Tx, keys: readonly OrderKey[]): Promise<void> {
  if (keys.length > 0) await tx.query(advanceIdle, keyColumns(keys));
}

/** Records the time until which a failed delivery blocks its key, counted from its first failure. */
export async function noteHolds(
  tx: Tx,
  failed: readonly (OrderKey & { readonly sequence: number; readonly holdMs: number })[],
): Promise<void> {
  if (failed.length === 0) return;
  const columns = columnsOf(failed, [({ sequence }) => sequence, ({ holdMs }) => holdMs]);
  await tx.query(hold, [...keyColumns(failed), ...columns]);
}

function keyColumns(keys: readonly OrderKey[]): unknown[] {
  return columnsOf(keys, [({ endpointId }) => endpointId, ({ orderKey }) => orderKey]);
}
