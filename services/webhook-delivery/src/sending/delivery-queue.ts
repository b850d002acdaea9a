import type { WebhookEndpointResource } from "@signalbox/contracts";
import { columnsOf, type Queryable, sql } from "@signalbox/storage";
import type { LeasedDelivery } from "../deliveries/delivery.ts";
import type { Rate } from "./endpoint-rates.ts";

/** An enabled endpoint with deliveries in the queue. */
export interface WaitingEndpoint {
  readonly id: string;
  readonly accountId: string;
  readonly type: NonNullable<WebhookEndpointResource["type"]>;
  readonly url: string;
  /** Time until its first delivery is due; negative when overdue. */
  readonly dueInMs: number;
  /** Rate limit of its attempts; null without one. */
  readonly rate: Rate | null;
}

/** Rate of an endpoint without a limit for deliveries that were held while it was paused or disabled. */
const releaseRate: Rate = { limit: 20, per_seconds: 1 };

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
   select p.id, p.account_id as "accountId", p.type, p.url,
     extract(epoch from least(first.due_at, statement_timestamp() + interval '1 day') - statement_timestamp())::float8 * 1000 as "dueInMs",
     coalesce(nullif(p.settings->'rate', 'null'), case when first.due_at <= p.released_at
       then '${JSON.stringify(releaseRate)}'::jsonb end) as rate
   from first join endpoints as p on p.id = first.endpoint_id
   where p.status = 'enabled' and p.deleted_at is null`,
);

/**
 * Leases as many deliveries of each endpoint as it has room for, the oldest first. The cost depends on the rows taken.
 */
const claimText = (isProbe: boolean): string => `with taken as materialized (
     select q.* from unnest($1::text[], $2::int[]) as lane (endpoint_id, room) cross join lateral (
       select ctid as place, due_at, delivery_id from delivery_queue
       where endpoint_id = lane.endpoint_id and ${isProbe ? "leased_by is null and due_at < 'infinity'" : "due_at <= statement_timestamp()"}
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

const revisions = sql(
  "queue.revisions",
  "select id, revision from endpoints where id = any($1::text[]) and deleted_at is null",
);

interface LeaseTerms {
  readonly leaseMs: number;
  /** The instance that holds the lease. */
  readonly instance: number;
}

/** Returns the enabled endpoints with deliveries in the queue. All times of the queue are the database's. */
export const waitingEndpoints = async (db: Queryable): Promise<WaitingEndpoint[]> =>
  (await db.query<WaitingEndpoint>(waiting)).rows;

/** Leases due deliveries, as many of each endpoint as it has room for. */
export async function claimDeliveries(
  db: Queryable,
  rooms: ReadonlyMap<string, number>,
  { leaseMs, instance }: LeaseTerms,
): Promise<LeasedDelivery[]> {
  const values = [[...rooms.keys()], [...rooms.values()], leaseMs, instance];
  return (await db.query<LeasedDelivery>(claim, values)).rows;
}

/** Leases the oldest delivery of an endpoint that is not enabled, even before it is due. */
export const claimProbe = async (
  db: Queryable,
  endpointId: string,
  { leaseMs, instance }: LeaseTerms,
): Promise<LeasedDelivery[]> => (await db.query<LeasedDelivery>(probe, [[endpointId], [1], leaseMs, instance])).rows;

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
