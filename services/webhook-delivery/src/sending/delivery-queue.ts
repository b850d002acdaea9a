import type { WebhookEndpointResource } from "@signalbox/contracts";
import { hours } from "@signalbox/core";
import { columnsOf, type Queryable, sql } from "@signalbox/storage";
import type { LeasedDelivery } from "../deliveries/delivery.ts";
import { firstDrainRate } from "../endpoints/drain-rate.ts";
import type { Rate } from "./endpoint-rates.ts";

/** `held` are due since before the release of an endpoint that was paused or disabled, `new` are the others. */
export type QueuePart = "all" | "held" | "new";

export interface WaitingEndpoint {
  readonly id: string;
  readonly accountId: string;
  readonly type: NonNullable<WebhookEndpointResource["type"]>;
  readonly url: string;
  /** Time until its first delivery is due; negative when overdue. */
  readonly dueInMs: number;
  readonly rate: Rate | null;
  readonly part: QueuePart;
  /** The adaptive rate of its held deliveries, in a second; null where none are left, or the endpoint sets its rate. */
  readonly drainsPerSecond: number | null;
}

interface WaitingRow extends Omit<WaitingEndpoint, "part"> {
  readonly isDraining: boolean;
  readonly isOrdered: boolean;
  /** Time until the first delivery that was never held is due; null without one. */
  readonly newDueInMs: number | null;
}

const dueInMs = (dueAt: string) =>
  `extract(epoch from least(${dueAt}, statement_timestamp() + interval '1 day') - statement_timestamp())::float8 * 1000`;

/** Jumps from endpoint to endpoint, so that the cost depends on the number of endpoints with queued deliveries. */
const waiting = sql(
  "queue.waiting",
  `with recursive first as (
     (select endpoint_id, due_at from delivery_queue order by endpoint_id, due_at limit 1)
     union all
     select next.endpoint_id, next.due_at from first cross join lateral (
       select endpoint_id, due_at from delivery_queue where endpoint_id > first.endpoint_id
       order by endpoint_id, due_at limit 1) as next
   )
   select p.id, p.account_id as "accountId", p.type, p.url, ${dueInMs("first.due_at")} as "dueInMs",
     nullif(p.settings->'rate', 'null') as rate, coalesce(first.due_at <= p.released_at, false) as "isDraining",
     coalesce(p.settings->'ordered' = 'true', false) as "isOrdered", ${dueInMs("fresh.due_at")} as "newDueInMs",
     case when first.due_at <= p.released_at and coalesce(p.settings->'rate', 'null') = 'null'
       then coalesce(r.drains_per_second, ${firstDrainRate}) end as "drainsPerSecond"
   from first join endpoints as p on p.id = first.endpoint_id
   left join endpoint_rates as r on r.endpoint_id = p.id
   left join lateral (
     select due_at from delivery_queue where first.due_at <= p.released_at
       and endpoint_id = p.id and due_at > p.released_at order by due_at limit 1) as fresh on true
   where p.status = 'enabled' and p.deleted_at is null`,
);

/** Leases as many deliveries of each endpoint as it has room for, the oldest first. */
const dueInPart = `due_at > coalesce(bounds.after, '-infinity')
         and due_at <= least(statement_timestamp(), bounds.until)`;
const claimText = (isProbe: boolean): string => `with taken as materialized (
     select q.* from unnest($1::text[], $2::int[], $5::text[]) as lane (endpoint_id, room, part) cross join lateral (
       select case part when 'new' then released_at end as after, case part when 'held' then released_at end as until
       from endpoints where id = lane.endpoint_id) as bounds cross join lateral (
       select ctid as place, due_at, delivery_id from delivery_queue
       where endpoint_id = lane.endpoint_id and ${isProbe ? "leased_by is null and due_at < 'infinity'" : dueInPart}
       order by due_at, delivery_id limit lane.room for update skip locked) as q
   ), leased as (
     update delivery_queue as q
     set due_at = date_trunc('milliseconds', statement_timestamp()) + $3::int * interval '1 ms', leased_by = $4
     where ctid = any (array(select place from taken))
     returning delivery_id, created_at, due_at as leased_until, replay_id, order_key, sequence
   )
   select d.id, d.endpoint_id as "endpointId", d.account_id as "accountId", d.event_id as "eventId",
     d.event_type as "eventType", e.body, e.traceparent, d.created_at as "createdAt", d.attempts,
     d.exhausted_at is not null as "wasExhausted", ${isProbe ? "'probe'" : "'delivery'"} as purpose, leased.replay_id as "replayId",
     leased.order_key as "orderKey", leased.sequence::float8 as sequence,
     taken.due_at::text as "dueAt", leased.leased_until as "leasedUntil"
   from leased join taken using (delivery_id)
   cross join lateral (
     select * from deliveries where id = leased.delivery_id and created_at = leased.created_at offset 0) as d
   cross join lateral (
     select body, traceparent from webhook_events
     where account_id = d.account_id and created_at = d.created_at and id = d.event_id offset 0) as e
   order by taken.due_at, d.id`;
const claim = sql("queue.claim", claimText(false));
/** Leases a delivery even before it is due. */
const probe = sql("queue.claim-probe", claimText(true));

/** Not prepared, for the same reason as `recordResults`. */
const handBack = sql(
  "",
  `update delivery_queue as q set due_at = given.due_at + place * interval '1 microsecond', leased_by = null
   from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[]::timestamptz[]) with ordinality
     as given (endpoint_id, leased_until, delivery_id, due_at, place)
   where q.endpoint_id = given.endpoint_id and q.due_at = given.leased_until and q.delivery_id = given.delivery_id`,
);

/** Interval between two probes of an endpoint that was disabled because it failed. */
export const probeEveryMs = hours(1);

const dueProbes = sql(
  "health.take-probes",
  `update endpoint_health as h set probe_at = $2
   from (
     select endpoint_id, p.account_id, p.revision from endpoint_health join endpoints as p on p.id = endpoint_id
     where probe_at <= $1 and p.status = 'disabled' and p.disabled_reason = 'failing' and p.deleted_at is null
     order by probe_at limit 16 for update of endpoint_health skip locked) as due
   where h.endpoint_id = due.endpoint_id
   returning h.endpoint_id as id, due.account_id as "accountId", due.revision`,
);

const revisions = sql(
  "queue.revisions",
  "select id, revision from endpoints where id = any($1::text[]) and deleted_at is null",
);

export interface LeaseTerms {
  readonly leaseMs: number;
  readonly instance: number;
}

/** Returns the enabled endpoints with deliveries in the queue. All times of the queue are the database's. */
export const waitingEndpoints = async (db: Queryable): Promise<WaitingEndpoint[]> =>
  (await db.query<WaitingRow>(waiting)).rows.flatMap(partsOf);

/** New deliveries of an endpoint that drains pass those that were held, unless it is ordered. */
function partsOf({ isDraining, isOrdered, newDueInMs, ...endpoint }: WaitingRow): WaitingEndpoint[] {
  if (!isDraining) return [{ ...endpoint, part: "all" }];
  const { rate, drainsPerSecond } = endpoint;
  const drainRate = drainsPerSecond === null ? rate : { limit: drainsPerSecond, per_seconds: 1 };
  if (isOrdered) return [{ ...endpoint, rate: drainRate, part: "all" }];
  const held = { ...endpoint, rate: drainRate, part: "held" } as const;
  if (newDueInMs === null) return [held];
  return [{ ...endpoint, dueInMs: newDueInMs, drainsPerSecond: null, part: "new" }, held];
}

/** Leases due deliveries, as many of each endpoint as it has room for; of all its parts unless `parts` names one. */
export async function claimDeliveries(
  db: Queryable,
  rooms: ReadonlyMap<string, number>,
  { leaseMs, instance }: LeaseTerms,
  parts: ReadonlyMap<string, QueuePart> = new Map(),
): Promise<LeasedDelivery[]> {
  const ids = [...rooms.keys()];
  const values = [ids, [...rooms.values()], leaseMs, instance, ids.map((id) => parts.get(id) ?? "all")];
  return (await db.query<LeasedDelivery>(claim, values)).rows;
}

/** Takes the endpoints whose probe is due, each in one instance, and plans the next one. */
export async function takeProbes(db: Queryable, now: Date) {
  const next = new Date(now.getTime() + probeEveryMs);
  return (await db.query<{ id: string; accountId: string; revision: number }>(dueProbes, [now, next])).rows;
}

/** Leases the oldest delivery of an endpoint that is not enabled, even before it is due. */
export const claimProbe = async (db: Queryable, endpointId: string, { leaseMs, instance }: LeaseTerms) =>
  (await db.query<LeasedDelivery>(probe, [[endpointId], [1], leaseMs, instance, ["all"]])).rows;

/** Returns leased deliveries without an attempt to their place in the queue. */
export async function handBackDeliveries(db: Queryable, some: readonly LeasedDelivery[]): Promise<void> {
  const columns = columnsOf(some, [
    ({ endpointId }) => endpointId,
    ({ leasedUntil }) => leasedUntil,
    ({ id }) => id,
    ({ dueAt }) => dueAt,
  ]);
  await db.query(handBack, columns);
}

/** Returns the revisions of endpoints; a deleted endpoint has none. */
export async function endpointRevisions(db: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ id: string; revision: number }>(revisions, [ids]);
  return new Map(rows.map(({ id, revision }) => [id, revision]));
}
