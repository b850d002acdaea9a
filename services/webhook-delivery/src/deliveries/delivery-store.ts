import type { Viewer } from "@signalbox/auth";
import { type ListRange, newestFirst, type Queryable, rangeValues, sql, type Tx, table } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import { mayWrite } from "../endpoints/account-access.ts";
import { endpointsSeen, seen, splitId } from "../endpoints/endpoint-id.ts";
import {
  beginning,
  type EventFilter,
  type EventReader,
  endOfTime,
  namesOf,
  type StoredEvent,
} from "../events/event-store.ts";
import { columns } from "../generated/columns.ts";
import { type Attempt, attemptFor } from "./attempt.ts";
import type { Delivery } from "./delivery.ts";
import { eventTimeOf } from "./delivery-id.ts";
import { advanceIdleKeys, lockOrder, type OrderKey } from "./delivery-order.ts";

const deliveries = table("deliveries", columns.deliveries, ["status", "exhaustedAt", "orderKey", "sequence"]);
const attempts = table("delivery_attempts", columns.delivery_attempts);

const endpointsOf = `(select id, status from endpoints
   where account_id = $1 and deleted_at is null and ($2::text[] is null or id = any($2) or consumer_of = any($2))) as p`;
const find = sql(
  "delivery.find",
  `select ${deliveries.columns}, case when d.status = 'pending' and ((
       select status <> 'enabled' from endpoints where id = d.endpoint_id) or $4) then 'held' else d.status end as status
   from deliveries as d where id = $2 and created_at = $3 and account_id = $1
     and exists (select from endpoints where id = d.endpoint_id and deleted_at is null)`,
);
const findMany = sql(
  "delivery.find-many",
  `select ${deliveries.columns}, case when d.status = 'pending' and (endpoint_status <> 'enabled' or $4) then 'held'
     else d.status end as status
   from unnest($2::text[], $3::timestamptz[]) as given (wanted, at) cross join lateral (
     select * from deliveries where id = given.wanted and created_at = given.at and account_id = $1 offset 0) as d
   cross join lateral (
     select status from endpoints where id = d.endpoint_id and deleted_at is null) as p (endpoint_status)`,
);
const orderedAt = sql(
  "delivery.ordered-at",
  `select endpoint_id as id from deliveries
   where id = $2 and created_at = $3 and account_id = $1 and order_key is not null`,
);
const lock = sql("delivery.lock", `${find.text} for update`);
// The endpoints of an account are few, and each has an index of its deliveries by time.
const list = sql(
  "delivery.list",
  `select found.* from ${endpointsOf} cross join lateral (
     select ${deliveries.columns}, d.status as stored from deliveries as d
     where endpoint_id = p.id and ($3::text is null or d.status = $3)
       and ($4::text is null or ($4 = 'held') = (p.status <> 'enabled' or $5))
       and ($9::text is null or event_type = $9) and ($10::text is null or starts_with(event_type, $10))
       and ($11::text is null or event_id = $11) and created_at >= $12 and created_at < $13
       and created_at <= $6 and ${newestFirst(6)}) as d
   cross join lateral (select d.*, case when stored = 'pending' and (p.status <> 'enabled' or $5) then 'held'
     else stored end as status) as found
   order by found."createdAt" desc, found.id desc limit $8`,
);
/** Conditions on attempts, with the values `$6` to `$13` of `attemptValues`. */
const wanted = `started_at >= $6 and started_at < $7 and ($8::bool is null or $8 = ((status between 200 and 299) is true))
  and ($9::int is null or status between $9 and $9 + 99) and (not $10::bool or status is null)
  and ($11::text is null or error = $11) and ($12::text is null or event_type = $12)
  and ($13::text is null or starts_with(event_type, $13))`;
const listAttemptsWhere = (condition: string) =>
  `select found.* from ${endpointsOf} cross join lateral (
     select ${attempts.columns} from delivery_attempts where endpoint_id = p.id and started_at <= $3
       and ${condition} and ${newestFirst(3, "started_at")}) as found
   order by found."startedAt" desc, found.id desc limit $5`;
const listAll = sql("attempt.list", listAttemptsWhere(wanted));
/** In the words of the index of failures, which only then is used. */
const isFailure = "(status is null or status < 200 or status > 299)";
const listFailed = sql("attempt.list-failures", listAttemptsWhere(`${isFailure} and ${wanted}`));
const listOfDelivery = sql(
  "attempt.list-of-delivery",
  `select ${attempts.columns} from delivery_attempts as a
   where delivery_id = $2 and account_id = $1 and ${wanted} and ${newestFirst(3, "started_at")}`,
);
const lastOf = sql(
  "attempt.last-of-deliveries",
  `select last.* from unnest($2::text[]) as given (id) cross join lateral (
     select ${attempts.columns} from delivery_attempts where delivery_id = given.id and account_id = $1
     order by started_at desc, id desc limit 1) as last`,
);

const eventsOf = sql(
  "event.of-deliveries",
  `select d.id as "deliveryId", e.id, e.type, e.body, e.created_at as "createdAt"
   from unnest($2::text[], $3::timestamptz[]) as given (wanted, at) cross join lateral (
     select * from deliveries where id = given.wanted and created_at = given.at and account_id = $1 offset 0) as d
   cross join lateral (
     select * from webhook_events where account_id = $1 and created_at = d.created_at and id = d.event_id
       and ($4 or about_account_id is null) offset 0) as e`,
);
/** The caller holds the row of the delivery. An ordered delivery joins the queue of its key. */
const requeue = sql(
  "",
  `with chosen as (
     update deliveries set status = 'pending', next_attempt_at = statement_timestamp()
     where id = $1 and created_at = $2 returning id, created_at, endpoint_id, order_key, sequence
   ), advanced as (
     update delivery_queue as q set due_at = least(due_at, statement_timestamp()) from chosen
     where q.endpoint_id = chosen.endpoint_id and q.delivery_id = chosen.id and leased_by is null and due_at < 'infinity'
   ), queued as (
     insert into delivery_queue (endpoint_id, due_at, delivery_id, created_at, order_key, sequence)
     select endpoint_id, case when order_key is null then statement_timestamp() else 'infinity' end, id, created_at,
       order_key, sequence from chosen
     where not exists (
       select from delivery_queue as q where q.endpoint_id = chosen.endpoint_id and q.delivery_id = chosen.id)
   )
   select endpoint_id as "endpointId", order_key as "orderKey" from chosen where order_key is not null`,
);

/** Skips the row that is being leased: its attempt goes on. */
const cancel = sql(
  "",
  `with free as (
     select endpoint_id, due_at, delivery_id from delivery_queue
     where endpoint_id = $1 and delivery_id = $2 and leased_by is null for update skip locked
   ), left_queue as (
     delete from delivery_queue as q using free
     where q.endpoint_id = free.endpoint_id and q.due_at = free.due_at and q.delivery_id = free.delivery_id returning 1
   )
   update deliveries set status = 'cancelled', next_attempt_at = null
   where id = $2 and created_at = $3 and exists (select from left_queue)
   returning endpoint_id as "endpointId", order_key as "orderKey"`,
);

export interface DeliveryFilter extends EventFilter {
  readonly endpointId?: string | undefined;
  readonly status?: string | undefined;
  readonly eventId?: string | undefined;
}

/** Statuses of answers by their first digit; `none` for attempts without an answer. */
export const statusClasses = ["1xx", "2xx", "3xx", "4xx", "5xx", "none"] as const;

export interface AttemptFilter extends EventFilter {
  readonly endpointId?: string | undefined;
  readonly deliveryId?: string | undefined;
  /** Only attempts that were acknowledged (true), or only the others (false). */
  readonly succeeded?: boolean | undefined;
  readonly statusClass?: (typeof statusClasses)[number] | undefined;
  readonly error?: string | undefined;
}

function attemptValues({ from = beginning, to = endOfTime, succeeded, statusClass, error, type }: AttemptFilter) {
  const isAnswered = statusClass !== undefined && statusClass !== "none";
  const least = isAnswered ? Number(statusClass.slice(0, 1)) * 100 : null;
  return [from, to, succeeded ?? null, least, statusClass === "none", error ?? null, ...namesOf(type)];
}

/** Returns true for a filter that no acknowledged attempt matches. */
const isOfFailures = ({ succeeded, statusClass, error }: AttemptFilter): boolean =>
  succeeded === false || error !== undefined || (statusClass !== undefined && statusClass !== "2xx");

export async function findDelivery(service: DeliveryService, viewer: Viewer, id: string): Promise<Delivery | null> {
  const createdAt = eventTimeOf(id);
  if (createdAt === null) return null;
  const values = [viewer.accountId, id, createdAt, isHeld(service, viewer)];
  return seen(viewer, (await service.pool.query<Delivery>(find, values)).rows[0] ?? null);
}

export async function findDeliveries(service: DeliveryService, viewer: Viewer, ids: readonly string[]) {
  const known = ids.filter((id) => eventTimeOf(id) !== null);
  const values = [viewer.accountId, known, known.map(eventTimeOf), isHeld(service, viewer)];
  const { rows } = await service.pool.query<Delivery>(findMany, values);
  return rows.filter((row) => seen(viewer, row));
}

/** Finds the delivery, and blocks the recording of its results until the transaction ends. */
export async function lockDelivery(service: DeliveryService, tx: Tx, viewer: Viewer, id: string) {
  const { accountId } = viewer;
  const createdAt = eventTimeOf(id);
  if (createdAt === null) return null;
  const ordered = (await tx.query<{ id: string }>(orderedAt, [accountId, id, createdAt])).rows.map((row) => row.id);
  await lockOrder(tx, ordered);
  const values = [accountId, id, createdAt, isHeld(service, viewer)];
  return seen(viewer, (await tx.query<Delivery>(lock, values)).rows[0] ?? null);
}

export async function listDeliveries(
  service: DeliveryService,
  viewer: Viewer,
  filter: DeliveryFilter,
  range: ListRange,
): Promise<Delivery[]> {
  const { endpointId, status, type, eventId, from = beginning, to = endOfTime } = filter;
  const isOpen = status === "held" || status === "pending";
  const stored = isOpen ? "pending" : (status ?? null);
  const state = [endpointsSeen(viewer, endpointId), stored, isOpen ? status : null, isHeld(service, viewer)];
  const values = [viewer.accountId, ...state, ...rangeValues(range), ...namesOf(type), eventId ?? null, from, to];
  return (await service.pool.query<Delivery>(list, values)).rows;
}

/** Returns true when the deliveries of the account are held, because it may not act now. */
const isHeld = ({ accessStates }: DeliveryService, { accountId }: Viewer): boolean =>
  !mayWrite(accessStates, accountId);

/** Makes a delivery due now, one that has ended or one that waits. The caller holds its row. */
export async function requeueDelivery(tx: Tx, { id, createdAt }: Delivery): Promise<void> {
  await advanceIdleKeys(tx, (await tx.query<OrderKey>(requeue, [id, createdAt])).rows);
}

/** Takes a delivery out of the queue; false for one that is being attempted. The caller holds its row. */
export async function cancelQueued(tx: Tx, { id, createdAt, endpointId }: Delivery): Promise<boolean> {
  const { rows } = await tx.query<{ endpointId: string; orderKey: string | null }>(cancel, [endpointId, id, createdAt]);
  const keys = rows.flatMap(({ orderKey, ...of }) => (orderKey === null ? [] : [{ ...of, orderKey }]));
  await advanceIdleKeys(tx, keys);
  return rows.length > 0;
}

export async function listAttempts(db: Queryable, viewer: Viewer, filter: AttemptFilter, range: ListRange) {
  const { endpointId, deliveryId } = filter;
  const shown = (attempt: Attempt) => attemptFor(viewer, attempt);
  const parent = deliveryId ?? endpointsSeen(viewer, endpointId);
  const values = [viewer.accountId, parent, ...rangeValues(range), ...attemptValues(filter)];
  if (deliveryId === undefined)
    return (await db.query<Attempt>(isOfFailures(filter) ? listFailed : listAll, values)).rows.map(shown);
  const { rows } = await db.query<Attempt>(listOfDelivery, values);
  return rows
    .filter(
      (attempt) =>
        seen(viewer, attempt) && (endpointId === undefined || splitId(attempt.endpointId).endpointId === endpointId),
    )
    .map(shown);
}

export const lastAttempts = async (db: Queryable, viewer: Viewer, deliveryIds: readonly string[]): Promise<Attempt[]> =>
  (await db.query<Attempt>(lastOf, [viewer.accountId, deliveryIds])).rows
    .filter((attempt) => seen(viewer, attempt))
    .map((attempt) => attemptFor(viewer, attempt));

export async function eventsOfDeliveries(
  db: Queryable,
  { accountId, seesOthers }: EventReader,
  ids: readonly string[],
) {
  const known = ids.filter((id) => eventTimeOf(id) !== null);
  const values = [accountId, known, known.map(eventTimeOf), seesOthers];
  return (await db.query<StoredEvent & { readonly deliveryId: string }>(eventsOf, values)).rows;
}
