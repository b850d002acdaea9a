import { timeOfPublicId } from "@signalbox/core";
import { type Queryable, sql } from "@signalbox/storage";
import type { LeasedDelivery } from "../deliveries/delivery.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import type { LeaseTerms } from "../sending/delivery-queue.ts";

/** A delivery in the hands of a consumer. The lease has the id of the attempt that it becomes in the log. */
export interface LeasedMessage extends LeasedDelivery {
  readonly leaseId: string;
  /** Revision of the endpoint at the time of the lease. */
  readonly revision: number;
}

/** A row of `endpoints` from which messages are taken: a pull endpoint, or one of its consumers. */
export interface PullRow extends Pick<Endpoint, "id" | "accountId" | "type" | "scope" | "eventTypes" | "revision"> {
  /** True for an endpoint for listening, which ends unless somebody takes its messages. */
  readonly isListening: boolean;
}

/** The state of a lease that is not live, or not any more. */
export interface LeaseRecord {
  readonly leaseId: string;
  /** Decision of its attempt in the log; null without an entry. */
  readonly decision: string | null;
  readonly error: string | null;
  /** False when another attempt was recorded first. */
  readonly counted: boolean | null;
  readonly deliveryId: string | null;
  readonly nextAttemptAt: Date | null;
  /** End of a lease that still has its row in the queue. */
  readonly endsAt: Date | null;
}

/** Takes the place of an instance in `leased_by` while a consumer holds the delivery. */
const byConsumer = -1;
/** Bodies of one answer: further messages stay in the queue, and one that is larger comes alone. */
const bytesMax = 4 * 1_048_576;

const members = `d.id, d.endpoint_id as "endpointId", d.account_id as "accountId", d.event_id as "eventId",
  d.event_type as "eventType", d.created_at as "createdAt", d.attempts, d.exhausted_at is not null as "wasExhausted",
  'delivery' as purpose, leased.replay_id as "replayId", leased.order_key as "orderKey",
  leased.sequence::float8 as sequence, leased.due_at as "leasedUntil", leased.lease_id as "leaseId",
  p.revision`;
const parents = `join endpoints as p on p.id = leased.endpoint_id
  cross join lateral (
    select * from deliveries where id = leased.delivery_id and created_at = leased.created_at offset 0) as d`;

/** As many as fit into one answer. Not prepared: a plan for a short queue would later read all of a long one. */
const leaseDue = sql(
  "",
  `with held as (
     select count(*)::int as count from delivery_queue where endpoint_id = $1 and lease_id is not null
   ), taken as materialized (
     select ctid as place, due_at, delivery_id, created_at from delivery_queue
     where endpoint_id = $1 and due_at <= statement_timestamp() and lease_id is null
       and exists (select from endpoints where id = $1 and status = 'enabled' and deleted_at is null)
       and not exists (select from pull_consumers where endpoint_id = $1 and filled_at is null)
     order by due_at, delivery_id limit greatest(0, least($2::int, $3::int - (select count from held)))
     for update skip locked
   ), sized as (
     select taken.*, e.body, e.traceparent, row_number() over places as rank,
       sum(octet_length(e.body)) over places - octet_length(e.body) as before
     from taken cross join lateral (
       select * from deliveries where id = taken.delivery_id and created_at = taken.created_at offset 0) as d
     cross join lateral (
       select body, traceparent from webhook_events
       where account_id = d.account_id and created_at = d.created_at and id = d.event_id offset 0) as e
     window places as (order by taken.due_at, taken.delivery_id)
   ), chosen as materialized (select * from sized where before < ${bytesMax}), leased as (
     update delivery_queue as q set lease_id = ($4::text[])[chosen.rank], leased_by = ${byConsumer},
       due_at = date_trunc('milliseconds', statement_timestamp()) + $5::int * interval '1 ms'
     from chosen where q.ctid = chosen.place
     returning q.*
   )
   select ${members}, chosen.body, chosen.traceparent, chosen.due_at::text as "dueAt"
   from leased join chosen using (delivery_id, created_at) ${parents}
   order by chosen.rank`,
);

/**
 * Takes over the rows of leases whose result is about to be recorded, so that they neither expire nor end twice. The
 * instance that dies meanwhile loses them as it loses its own leases. A poll locks, while its statement lasts, also rows
 * that another poll leased a moment before: the end of such a lease waits for the lock and must not skip the row.
 */
const takeText = (condition: string) => `with leased as (
     update delivery_queue set leased_by = $1,
       due_at = date_trunc('milliseconds', statement_timestamp()) + $2::int * interval '1 ms'
     where ctid = any (array(
       select ctid from delivery_queue where lease_id is not null and ${condition}))
     returning *
   )
   select ${members}, '' as body, null as traceparent, leased.due_at::text as "dueAt" from leased ${parents}`;
const takeLive = sql(
  "",
  takeText(
    `endpoint_id = any ($3::text[]) and lease_id = any ($4::text[]) and leased_by = ${byConsumer}
       and due_at > statement_timestamp() order by lease_id for update`,
  ),
);
const takeEnded = sql("", takeText("due_at <= statement_timestamp() order by due_at limit 256 for update skip locked"));

const giveBack = sql(
  "",
  `update delivery_queue as q set due_at = given.due_at, leased_by = null, lease_id = null
   from unnest($2::text[], $3::text[]::timestamptz[]) as given (lease_id, due_at)
   where q.endpoint_id = $1 and q.lease_id = given.lease_id and q.leased_by = ${byConsumer}`,
);

/** A lease ends twelve hours after its start at the latest, however often it is extended. */
const leaseHoursMax = 12;
const extendEnds = sql(
  "",
  `update delivery_queue as q set due_at = least(
     date_trunc('milliseconds', statement_timestamp()) + $3::int * interval '1 ms',
     given.started_at + interval '${leaseHoursMax} hours')
   from unnest($2::text[], $4::timestamptz[]) as given (lease_id, started_at)
   where q.endpoint_id = any ($1::text[]) and q.lease_id = given.lease_id and q.leased_by = ${byConsumer}
     and q.due_at > statement_timestamp()
   returning q.lease_id as "leaseId", q.due_at as "endsAt"`,
);

const recordsOf = sql(
  "",
  `select given.id as "leaseId", a.decision, a.error, a.counted, a.delivery_id as "deliveryId",
     a.next_attempt_at as "nextAttemptAt", q.due_at as "endsAt"
   from unnest($2::text[], $3::timestamptz[]) as given (id, started_at)
   left join lateral (
     select * from delivery_attempts
     where endpoint_id = any ($1::text[]) and started_at = given.started_at and id = given.id offset 0) as a on true
   left join lateral (
     select due_at from delivery_queue where endpoint_id = any ($1::text[]) and lease_id = given.id) as q on true
   where a.id is not null or q.due_at is not null`,
);
const pullRows = sql(
  "pull.rows",
  `select id, account_id as "accountId", type, scope, event_types as "eventTypes", revision, ends_at is not null as "isListening" from endpoints
   where (id = $2 or consumer_of = $2) and account_id = $1 and deleted_at is null
   order by id`,
);

const keepEndpoint = sql(
  "pull.keep",
  `update endpoints set ends_at = statement_timestamp() + $2::int * interval '1 ms'
   where id = $1 and ends_at < statement_timestamp() + $2::int * interval '1 ms' - interval '5 s' and deleted_at is null`,
);

const startsOf = (leaseIds: readonly string[]) => leaseIds.map((id) => new Date(timeOfPublicId(id) ?? 0));

// The consumers' side of the delivery queue: leases that callers hold. All times are the database's. The rows are those
// that the claims take for push endpoints, and a lease is free for neither.

export const listPullRows = async (db: Queryable, accountId: string, endpointId: string): Promise<PullRow[]> =>
  (await db.query<PullRow>(pullRows, [accountId, endpointId])).rows;

/** Leases the oldest due messages under these ids, while fewer than `heldMax` are in the hands of the consumer. */
export const leaseMessages = async (
  db: Queryable,
  id: string,
  leaseIds: readonly string[],
  heldMax: number,
  leaseMs: number,
): Promise<LeasedMessage[]> =>
  (await db.query<LeasedMessage>(leaseDue, [id, leaseIds.length, heldMax, leaseIds, leaseMs])).rows;

export const takeLeases = async (db: Queryable, ids: readonly string[], leaseIds: readonly string[], by: LeaseTerms) =>
  (await db.query<LeasedMessage>(takeLive, [by.instance, by.leaseMs, ids, leaseIds])).rows;

export const takeExpiredLeases = async (db: Queryable, { instance, leaseMs }: LeaseTerms): Promise<LeasedMessage[]> =>
  (await db.query<LeasedMessage>(takeEnded, [instance, leaseMs])).rows;

/** Returns leased messages that nobody has seen to their places, without an attempt. */
export async function giveBackLeases(db: Queryable, id: string, some: readonly LeasedMessage[]): Promise<void> {
  await db.query(giveBack, [id, some.map(({ leaseId }) => leaseId), some.map(({ dueAt }) => dueAt)]);
}

export const extendLeases = async (
  db: Queryable,
  ids: readonly string[],
  leaseIds: readonly string[],
  leaseMs: number,
): Promise<{ leaseId: string; endsAt: Date }[]> =>
  (await db.query<{ leaseId: string; endsAt: Date }>(extendEnds, [ids, leaseIds, leaseMs, startsOf(leaseIds)])).rows;

/** Moves the end of an endpoint for listening, at most every few seconds. */
export const postponeEnd = async (db: Queryable, id: string, graceMs: number): Promise<void> =>
  void (await db.query(keepEndpoint, [id, graceMs]));

/** Returns what became of leases; nothing for an id that is no lease of these rows. */
export const leaseRecords = async (db: Queryable, ids: readonly string[], leaseIds: readonly string[]) =>
  (await db.query<LeaseRecord>(recordsOf, [ids, leaseIds, startsOf(leaseIds)])).rows;
