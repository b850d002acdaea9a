import { seconds } from "@signalbox/core";
import type { ReplayStep } from "@signalbox/events";
import { type Queryable, sql, type Tx } from "@signalbox/storage";
import { advanceIdleKeys, lockOrder } from "../deliveries/delivery-order.ts";
import type { Replay, ReplayFilter } from "./replay.ts";

/**
 * Queued deliveries of an endpoint beyond which a replay waits, because queued ones go out even after it is cancelled.
 */
const queuedMax = 1_000;
/** Deliveries of one step, in one transaction, without a rate. */
const stepMax = 500;

/** Condition for the deliveries of a replay; `wantedValues` gives its values. */
const wanted = `endpoint_id = $1 and status = any($2::text[]) and created_at >= $3 and created_at < $4
  and (cardinality($5::text[]) = 0 or exists (
    select from unnest($5::text[]) as f (filter)
    where case when right(filter, 1) = '*' then starts_with(event_type, left(filter, -1)) else event_type = filter end))
  and (cardinality($6::text[]) = 0 or event_id = any($6::text[]))`;
const count = sql(
  "",
  `select count(*)::int as count from (
     select 1 from deliveries where ${wanted} limit $7) as found`,
);
/**
 * Queues the next deliveries. Pending ones are not queued a second time, and those that the retention removed meanwhile
 * are skipped.
 */
const queueNext = sql(
  "",
  `with chosen as materialized (
     select id, created_at, row_number() over (order by created_at, id) as place from (
       select id, created_at from deliveries where ${wanted} and (created_at, id) > ($7, $8)
       order by created_at, id limit $9) as next
   ), changed as (
     update deliveries as d set status = 'pending', next_attempt_at = statement_timestamp()
     from chosen where d.id = chosen.id and d.created_at = chosen.created_at and d.status = any($2::text[])
     returning d.id, d.order_key, d.sequence
   ), queued as (
     insert into delivery_queue (endpoint_id, due_at, delivery_id, created_at, replay_id, order_key, sequence)
     select $1, case when order_key is null
         then statement_timestamp() + place * $10::int * interval '1 microsecond' else 'infinity' end,
       id, created_at, $11, order_key, sequence
     from chosen join changed using (id)
   )
   select count(*)::int as count, coalesce(max(created_at), $7) as "placeTime",
     coalesce((select id from chosen order by place desc limit 1), $8) as "placeId",
     array(select distinct order_key from changed where order_key is not null) as keys from chosen`,
);
const countQueued = sql(
  "replay.count-queued",
  "select count(*)::int as count from (select 1 from delivery_queue where endpoint_id = $1 limit $2) as found",
);

const wantedValues = ({ endpointId, statuses, fromTime, toTime, eventTypes, eventIds }: ReplayFilter) => [
  ...[endpointId, statuses, fromTime, toTime, eventTypes, eventIds],
];

/** Counts the matching deliveries, up to `most`. */
export const countWanted = async (db: Queryable, filter: ReplayFilter, most: number): Promise<number> =>
  (await db.query<{ count: number }>(count, [...wantedValues(filter), most])).rows[0]?.count ?? 0;

/**
 * Queues the next deliveries of a replay, due at the intervals of its rate; ordered ones join the queue of their key.
 */
export async function queueStep(tx: Tx, replay: Replay): Promise<ReplayStep<Replay>> {
  const { endpointId, rate, placeTime, placeId } = replay;
  const queued = (await tx.query<{ count: number }>(countQueued, [endpointId, queuedMax])).rows[0]?.count ?? 0;
  const limit = Math.min(queuedMax - queued, rate ?? stepMax);
  if (limit <= 0) return { waitMs: seconds(1) };
  const apartUs = rate === null ? 1 : Math.floor(1_000_000 / rate);
  await lockOrder(tx, [endpointId]);
  const values = [...wantedValues(replay), placeTime, placeId, limit, apartUs, replay.id];
  const [step] = (await tx.query<QueuedStep>(queueNext, values)).rows;
  const { keys, count, ...place } = step ?? { keys: [], count: 0, placeTime, placeId };
  await advanceIdleKeys(
    tx,
    keys.map((orderKey) => ({ endpointId, orderKey })),
  );
  return { replay: { ...replay, ...place, replayed: replay.replayed + count }, count, isLast: count < limit };
}

interface QueuedStep {
  readonly count: number;
  /** The new position. */
  readonly placeTime: Date;
  readonly placeId: string;
  /** Order keys of the ordered deliveries among them. */
  readonly keys: readonly string[];
}
