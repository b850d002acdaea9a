import type { Viewer } from "@signalbox/auth";
import { type ListRange, newestFirst, type Pool, rangeValues, sql, type Tx, table } from "@signalbox/storage";
import { endpointsSeen, seen, splitId } from "../endpoints/endpoint-id.ts";
import { columns } from "../generated/columns.ts";
import type { Attempt } from "./attempt.ts";
import type { Delivery } from "./delivery.ts";
import { eventTimeOf } from "./delivery-id.ts";
import { lockOrder } from "./delivery-order.ts";

const deliveries = table("deliveries", columns.deliveries, ["status", "exhaustedAt", "orderKey", "sequence"]);
const attempts = table("delivery_attempts", columns.delivery_attempts);

const endpointsOf = `(select id, status from endpoints
   where account_id = $1 and deleted_at is null and ($2::text[] is null or id = any($2) or consumer_of = any($2))) as p`;
const findDelivery = sql(
  "delivery.find",
  `select ${deliveries.columns}, case when d.status = 'pending' and ((
       select status <> 'enabled' from endpoints where id = d.endpoint_id) or $4) then 'held' else d.status end as status
   from deliveries as d where id = $2 and created_at = $3 and account_id = $1
     and exists (select from endpoints where id = d.endpoint_id and deleted_at is null)`,
);
const findDeliveries = sql(
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
const lockDelivery = sql("delivery.lock", `${findDelivery.text} for update`);
// The endpoints of an account are few, and each has an index of its deliveries by time.
const listDeliveries = sql(
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
const listAttempts = sql("attempt.list", listAttemptsWhere(wanted));
/** In the words of the index of failures, which only then is used. */
const isFailure = "(status is null or status < 200 or status > 299)";
const listFailures = sql("attempt.list-failures", listAttemptsWhere(`${isFailure} and ${wanted}`));
const listAttemptsOfDelivery = sql(
  "attempt.list-of-delivery",
  `select ${attempts.columns} from delivery_attempts as a
   where delivery_id = $2 and account_id = $1 and ${wanted} and ${newestFirst(3, "started_at")}`,
);
const lastAttempts = sql(
  "attempt.last-of-deliveries",
  `select last.* from unnest($2::text[]) as given (id) cross join lateral (
     select ${attempts.columns} from delivery_attempts where delivery_id = given.id and account_id = $1
     order by started_at desc, id desc limit 1) as last`,
);

export interface DeliveryFilter {
  readonly endpointId?: string | undefined;
  readonly status?: string | undefined;
  /** A name, or a prefix that ends in `*`. */
  readonly type?: string | undefined;
  readonly eventId?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Statuses of answers by their first digit; `none` for attempts without an answer. */
export const statusClasses = ["1xx", "2xx", "3xx", "4xx", "5xx", "none"] as const;

export interface AttemptFilter {
  readonly endpointId?: string | undefined;
  readonly deliveryId?: string | undefined;
  /** Only attempts that were acknowledged (true), or only the others (false). */
  readonly succeeded?: boolean | undefined;
  readonly statusClass?: (typeof statusClasses)[number] | undefined;
  readonly error?: string | undefined;
  /** A name, or a prefix that ends in `*`. */
  readonly type?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

const beginning = new Date(0);
const endOfTime = new Date("9999-12-31T00:00:00.000Z");

/** Splits a type into the name, or the prefix, that it stands for. */
const namesOf = (type: string | undefined): readonly [name: string | null, prefix: string | null] =>
  type?.endsWith("*") ? [null, type.slice(0, -1)] : [type ?? null, null];

/** Returns the values of the conditions on attempts. */
function attemptValues({ from = beginning, to = endOfTime, succeeded, statusClass, error, type }: AttemptFilter) {
  const isAnswered = statusClass !== undefined && statusClass !== "none";
  const least = isAnswered ? Number(statusClass.slice(0, 1)) * 100 : null;
  return [from, to, succeeded ?? null, least, statusClass === "none", error ?? null, ...namesOf(type)];
}

/** Returns true for a filter that no acknowledged attempt matches. */
const isOfFailures = ({ succeeded, statusClass, error }: AttemptFilter): boolean =>
  succeeded === false || error !== undefined || (statusClass !== undefined && statusClass !== "2xx");

interface StoreDependencies {
  readonly pool: Pool;
  /** Returns true when the account may act now. Otherwise its deliveries are held. */
  readonly mayWrite: (accountId: string) => boolean;
}

/** Reads deliveries and their attempts from PostgreSQL, as their owners see them. */
export function createDeliveryStore({ pool, mayWrite }: StoreDependencies) {
  return {
    async find(viewer: Viewer, id: string): Promise<Delivery | null> {
      const createdAt = eventTimeOf(id);
      if (createdAt === null) return null;
      const values = [viewer.accountId, id, createdAt, !mayWrite(viewer.accountId)];
      return seen(viewer, (await pool.query<Delivery>(findDelivery, values)).rows[0] ?? null, endpointIdOf);
    },
    async findMany(viewer: Viewer, ids: readonly string[]): Promise<Delivery[]> {
      const known = ids.filter((id) => eventTimeOf(id) !== null);
      const values = [viewer.accountId, known, known.map(eventTimeOf), !mayWrite(viewer.accountId)];
      const { rows } = await pool.query<Delivery>(findDeliveries, values);
      return rows.filter((row) => seen(viewer, row, endpointIdOf));
    },
    /** Finds the delivery, and blocks the recording of its results until the transaction ends. */
    async lock(tx: Tx, viewer: Viewer, id: string): Promise<Delivery | null> {
      const { accountId } = viewer;
      const createdAt = eventTimeOf(id);
      if (createdAt === null) return null;
      const ordered = (await tx.query<{ id: string }>(orderedAt, [accountId, id, createdAt])).rows;
      await lockOrder(
        tx,
        ordered.map((endpoint) => endpoint.id),
      );
      const values = [accountId, id, createdAt, !mayWrite(accountId)];
      return seen(viewer, (await tx.query<Delivery>(lockDelivery, values)).rows[0] ?? null, endpointIdOf);
    },
    async list(viewer: Viewer, filter: DeliveryFilter, range: ListRange): Promise<Delivery[]> {
      const { accountId } = viewer;
      const { endpointId, status, type, eventId, from = beginning, to = endOfTime } = filter;
      const isOpen = status === "held" || status === "pending";
      const stored = isOpen ? "pending" : (status ?? null);
      const state = [endpointsSeen(viewer, endpointId), stored, isOpen ? status : null, !mayWrite(accountId)];
      const values = [accountId, ...state, ...rangeValues(range), ...namesOf(type), eventId ?? null, from, to];
      return (await pool.query<Delivery>(listDeliveries, values)).rows;
    },
    async listAttempts(viewer: Viewer, filter: AttemptFilter, range: ListRange): Promise<Attempt[]> {
      const { endpointId, deliveryId } = filter;
      const parent = deliveryId ?? endpointsSeen(viewer, endpointId);
      const values = [viewer.accountId, parent, ...rangeValues(range), ...attemptValues(filter)];
      if (deliveryId === undefined)
        return (await pool.query<Attempt>(isOfFailures(filter) ? listFailures : listAttempts, values)).rows;
      const { rows } = await pool.query<Attempt>(listAttemptsOfDelivery, values);
      return rows.filter(
        (attempt) =>
          seen(viewer, attempt, endpointIdOf) &&
          (endpointId === undefined || splitId(attempt.endpointId).endpointId === endpointId),
      );
    },
    /** Returns the last attempt of each delivery that has one. */
    lastAttempts: async (viewer: Viewer, deliveryIds: readonly string[]): Promise<Attempt[]> =>
      (await pool.query<Attempt>(lastAttempts, [viewer.accountId, deliveryIds])).rows.filter((attempt) =>
        seen(viewer, attempt, endpointIdOf),
      ),
  };
}

const endpointIdOf = ({ endpointId }: { readonly endpointId: string }): string => endpointId;

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;
