import type { Caller } from "@signalbox/auth";
import { seconds } from "@signalbox/core";
import type { ReplayStep } from "@signalbox/events";
import { type Queryable, sql, type Tx } from "@signalbox/storage";
import { advanceIdleKeys, lockOrder } from "../deliveries/delivery-order.ts";
import type { Replay, ReplayFilter, Turn } from "./replay.ts";

/** Queued deliveries beyond which a replay waits: queued ones go out even after it is cancelled. */
const queuedMax = 1_000;
/** Deliveries of one step, in one transaction, without a rate. */
const stepMax = 500;
const fullWaitMs = seconds(1);

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
const turn = "statement_timestamp() + place * $10::int * interval '1 microsecond'";
/**
 * Queues the next deliveries. Waiting ones, which are in the queue already, become due; one that is being attempted or
 * waits behind its key stays as it is. Those that the retention removed meanwhile are skipped. Rows of the queue are
 * locked before those of deliveries, as where results are recorded.
 */
const queueNext = sql(
  "",
  `with chosen as materialized (
     select id, created_at, status, row_number() over (order by created_at, id) as place from (
       select id, created_at, status from deliveries where ${wanted} and (created_at, id) > ($7, $8)
       order by created_at, id limit $9) as next
   ), free as materialized (
     select q.delivery_id as id, q.due_at, place from chosen join delivery_queue as q on q.delivery_id = chosen.id
     where chosen.status = 'pending' and q.endpoint_id = $1 and q.leased_by is null and q.due_at < 'infinity'
     for update of q skip locked
   ), hurried as (
     update delivery_queue as q set due_at = least(q.due_at, ${turn}), replay_id = $11
     from free where q.endpoint_id = $1 and q.due_at = free.due_at and q.delivery_id = free.id
     returning q.delivery_id as id
   ), changed as (
     update deliveries as d set status = 'pending', next_attempt_at = statement_timestamp()
     from chosen where d.id = chosen.id and d.created_at = chosen.created_at and d.status = chosen.status
       and (chosen.status <> 'pending' or d.id in (select id from hurried))
     returning d.id, d.order_key, d.sequence, chosen.status
   ), queued as (
     insert into delivery_queue (endpoint_id, due_at, delivery_id, created_at, replay_id, order_key, sequence)
     select $1, case when order_key is null then ${turn} else 'infinity' end,
       id, chosen.created_at, $11, order_key, sequence
     from chosen join changed using (id) where changed.status <> 'pending'
   )
   select count(*)::int as count, (select count(*)::int from changed) as queued,
     coalesce(max(created_at), $7) as "placeTime",
     coalesce((select id from chosen order by place desc limit 1), $8) as "placeId",
     array(select distinct order_key from changed where order_key is not null) as keys from chosen`,
);
/** Deliveries that wait for a later attempt do not count, or a replay of many of them would wait for itself. */
const countQueued = sql(
  "replay.count-queued",
  `select count(*)::int as count from (
     select 1 from delivery_queue where endpoint_id = $1
       and (due_at <= statement_timestamp() + interval '2 s' or due_at = 'infinity') limit $2) as found`,
);

/** The endpoints that an account's retry may be of. Pull endpoints have consumers, which take what waits by themselves. */
const pushEndpoints = sql(
  "replay.push-endpoints",
  `select id, status = 'enabled' and (scope = 'account' or $2) as "isOpen" from endpoints
   where account_id = $1 and type = 'push' and deleted_at is null`,
);
const openEndpoints = sql(
  "replay.open-endpoints",
  "select id from endpoints where id = any ($1::text[]) and status = 'enabled' and deleted_at is null",
);

const wantedValues = (filter: ReplayFilter, endpointId: string) => {
  const { statuses, fromTime, toTime, eventTypes, eventIds } = filter;
  const stored = statuses.map((status) => (status === "waiting" ? "pending" : status));
  return [endpointId, stored, fromTime, toTime, eventTypes, eventIds];
};

/** Counts the matching deliveries of an endpoint, up to `most`. */
export const countWanted = async (db: Queryable, filter: ReplayFilter, endpointId: string, most: number) =>
  (await db.query<{ count: number }>(count, [...wantedValues(filter, endpointId), most])).rows[0]?.count ?? 0;

/** Counts the matching deliveries of all push endpoints, up to `most` of each kind: those to send, and those left out. */
export async function countTurns(tx: Tx, filter: ReplayFilter, { accountId, scopes }: Caller, most: number) {
  const values = [accountId, scopes.has("account:admin")];
  const { rows } = await tx.query<{ id: string; isOpen: boolean }>(pushEndpoints, values);
  const turns: Turn[] = [];
  let [total, leftOut] = [0, 0];
  for (const { id: endpointId, isOpen } of rows) {
    const left = await countWanted(tx, filter, endpointId, most - (isOpen ? total : leftOut));
    if (!isOpen) leftOut += left;
    else if (left > 0) turns.push({ endpointId, placeTime: filter.fromTime.toISOString(), placeId: "", left });
    if (isOpen) total += left;
  }
  return { turns, total, leftOut };
}

/** Queues the next deliveries of the endpoint whose turn it is; one with enough in its queue keeps its turn. */
export async function queueTurn(tx: Tx, replay: Replay): Promise<ReplayStep<Replay>> {
  const { rows } = await tx.query<{ id: string }>(openEndpoints, [replay.turns.map(({ endpointId }) => endpointId)]);
  const turns = replay.turns.filter(({ endpointId }) => rows.some(({ id }) => id === endpointId));
  const leftOut = replay.leftOut + leftOf(replay.turns) - leftOf(turns);
  for (const turn of turns) {
    const place = { placeTime: new Date(turn.placeTime), placeId: turn.placeId };
    const step = await queueStep(tx, { ...replay, ...place }, turn.endpointId);
    if ("waitMs" in step) continue;
    const { placeTime, placeId, replayed } = step.replay;
    const next = { ...turn, placeTime: placeTime.toISOString(), placeId, left: Math.max(0, turn.left - step.count) };
    const others = turns.filter((one) => one !== turn);
    const after = step.isLast ? others : [...others, next];
    return { ...step, replay: { ...replay, replayed, leftOut, turns: after }, isLast: after.length === 0 };
  }
  return turns.length > 0 ? { waitMs: fullWaitMs } : { replay: { ...replay, leftOut, turns }, count: 0, isLast: true };
}

const leftOf = (turns: readonly Turn[]) => turns.reduce((sum, { left }) => sum + left, 0);

/** Queues the next deliveries of an endpoint at the intervals of the rate; ordered ones join their key's queue. */
export async function queueStep(tx: Tx, replay: Replay, endpointId: string): Promise<ReplayStep<Replay>> {
  const { rate, placeTime, placeId } = replay;
  const queued = (await tx.query<{ count: number }>(countQueued, [endpointId, queuedMax])).rows[0]?.count ?? 0;
  const limit = Math.min(queuedMax - queued, rate ?? stepMax);
  if (limit <= 0) return { waitMs: fullWaitMs };
  const apartUs = rate === null ? 1 : Math.floor(1_000_000 / rate);
  await lockOrder(tx, [endpointId]);
  const values = [...wantedValues(replay, endpointId), placeTime, placeId, limit, apartUs, replay.id];
  const [step] = (await tx.query<QueuedStep>(queueNext, values)).rows;
  const { keys, count, queued: added, ...place } = step ?? { keys: [], count: 0, queued: 0, placeTime, placeId };
  const orderKeys = keys.map((orderKey) => ({ endpointId, orderKey }));
  await advanceIdleKeys(tx, orderKeys);
  return { replay: { ...replay, ...place, replayed: replay.replayed + added }, count, isLast: count < limit };
}

interface QueuedStep {
  readonly count: number;
  /** Those of them that go out for this replay: one that is being attempted already does not. */
  readonly queued: number;
  readonly placeTime: Date;
  readonly placeId: string;
  /** Order keys of the ordered deliveries among them. */
  readonly keys: readonly string[];
}
