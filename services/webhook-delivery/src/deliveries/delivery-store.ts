import { type Pool, sql, type Tx } from "@signalbox/storage";
import type { Attempt, Delivery } from "./delivery.ts";

/** A position in a list, newest first. */
export interface ListPosition {
  readonly at: Date;
  readonly id: string;
}

const columns = `d.id, d.endpoint_id as "endpointId", d.account_id as "accountId", d.event_id as "eventId",
  e.type as "eventType", d.status, d.attempts, d.last_status as "lastStatus", d.last_error as "lastError",
  d.created_at as "createdAt", d.last_attempt_at as "lastAttemptAt", d.next_attempt_at as "nextAttemptAt"`;
const insertEvent = sql(
  "deliveries.insert-event",
  `insert into webhook_events (id, account_id, type, body, traceparent, created_at) values ($1, $2, $3, $4, $5, $6)
   on conflict (id) do nothing`,
);
const insertDeliveries = sql(
  "deliveries.insert",
  `insert into deliveries (id, endpoint_id, account_id, event_id, status, attempts, created_at, next_attempt_at)
   select id, endpoint_id, $3, $4, status, 0, $5, next_attempt_at
   from unnest($1::text[], $2::text[], $6::text[], $7::timestamptz[]) as new (id, endpoint_id, status, next_attempt_at)
   on conflict (endpoint_id, event_id) do nothing`,
);
const holdPending = sql(
  "deliveries.hold",
  "update deliveries set status = 'held', next_attempt_at = null where endpoint_id = $1 and status = 'pending'",
);
const releaseHeld = sql(
  "deliveries.release",
  "update deliveries set status = 'pending', next_attempt_at = $2 where endpoint_id = $1 and status = 'held'",
);
const releaseHeldOfAccount = sql(
  "deliveries.release-account",
  `update deliveries as d set status = 'pending', next_attempt_at = $2 from endpoints as p
   where p.id = d.endpoint_id and p.status = 'enabled' and d.account_id = $1 and d.status = 'held'`,
);
const accountsToRecheck = sql(
  "deliveries.accounts-to-recheck",
  "select distinct account_id as id from deliveries where status = 'held' and next_attempt_at <= $1",
);
const postponeRecheck = sql(
  "deliveries.postpone-recheck",
  "update deliveries set next_attempt_at = $2 where account_id = $1 and status = 'held' and next_attempt_at <= $2",
);
const listDeliveries = sql(
  "deliveries.list",
  `select ${columns} from deliveries as d join webhook_events as e on e.id = d.event_id
   where d.account_id = $1 and ($2::text is null or d.endpoint_id = $2) and ($3::text is null or d.status = $3)
     and (d.created_at, d.id) < ($4, $5) order by d.created_at desc, d.id desc limit $6`,
);
const findDelivery = sql(
  "deliveries.find",
  `select ${columns} from deliveries as d join webhook_events as e on e.id = d.event_id where d.id = $1 and d.account_id = $2`,
);
const listAttempts = sql(
  "deliveries.attempts",
  `select a.id, a.delivery_id as "deliveryId", a.endpoint_id as "endpointId", a.number, a.started_at as "startedAt",
     a.duration_ms as "durationMs", a.status, a.error, a.response
   from delivery_attempts as a
   where a.account_id = $1 and ($2::text is null or a.endpoint_id = $2) and ($3::text is null or a.delivery_id = $3)
     and (a.started_at, a.id) < ($4, $5) order by a.started_at desc, a.id desc limit $6`,
);
const trimEvents = sql(
  "deliveries.trim",
  "delete from webhook_events where id in (select id from webhook_events where created_at < $1 limit 1000)",
);

/** After every id and time: where a list begins that shows the newest first. */
const end: ListPosition = { at: new Date("9999-12-31T00:00:00.000Z"), id: "" };

export interface NewEvent {
  readonly id: string;
  readonly accountId: string;
  readonly type: string;
  /** The exact bytes that every delivery posts. */
  readonly body: Buffer;
  readonly traceparent: string | null;
  readonly createdAt: Date;
}

export interface NewDelivery {
  readonly id: string;
  readonly endpointId: string;
  readonly status: "pending" | "held";
  /** When it is due; for a held one when the account is looked at again, null while it waits for its endpoint. */
  readonly nextAttemptAt: Date | null;
}

export interface ListFilter {
  readonly endpointId?: string | undefined;
  readonly status?: string | undefined;
  readonly deliveryId?: string | undefined;
}

/** Deliveries, their events and attempts in PostgreSQL, as owners and the fan-out see them. */
export function createDeliveryStore(pool: Pool) {
  return {
    /** Writes the event once and its deliveries once, whoever repeats it. */
    insert: async (tx: Tx, event: NewEvent, deliveries: readonly NewDelivery[], at: Date): Promise<void> => {
      const { id, accountId, type, body, traceparent, createdAt } = event;
      await tx.query(insertEvent, [id, accountId, type, body, traceparent, createdAt]);
      const [ids, endpointIds] = [deliveries.map((each) => each.id), deliveries.map((each) => each.endpointId)];
      const statuses = deliveries.map((each) => each.status);
      const times = deliveries.map((each) => each.nextAttemptAt);
      await tx.query(insertDeliveries, [ids, endpointIds, accountId, id, at, statuses, times]);
    },
    hold: async (tx: Tx, endpointId: string): Promise<void> => void (await tx.query(holdPending, [endpointId])),
    release: async (tx: Tx, endpointId: string, at: Date): Promise<void> =>
      void (await tx.query(releaseHeld, [endpointId, at])),
    /** Lets what was held for a suspended account go, once it is active again; answers how many. */
    releaseAccount: async (accountId: string, at: Date): Promise<number> =>
      (await pool.query(releaseHeldOfAccount, [accountId, at])).rowCount,
    /** The accounts whose held deliveries are to be looked at again by `at`. */
    accountsToRecheck: async (at: Date): Promise<string[]> =>
      (await pool.query<{ id: string }>(accountsToRecheck, [at])).rows.map(({ id }) => id),
    postponeRecheck: async (accountId: string, until: Date): Promise<void> =>
      void (await pool.query(postponeRecheck, [accountId, until])),
    find: async (accountId: string, id: string): Promise<Delivery | null> =>
      (await pool.query<Delivery>(findDelivery, [id, accountId])).rows[0] ?? null,
    /** One more than `limit`, newest first. */
    list: async (accountId: string, filter: ListFilter, limit: number, after: ListPosition = end) => {
      const values = [accountId, filter.endpointId ?? null, filter.status ?? null, after.at, after.id, limit + 1];
      return (await pool.query<Delivery>(listDeliveries, values)).rows;
    },
    /** One more than `limit`, newest first. */
    listAttempts: async (accountId: string, filter: ListFilter, limit: number, after: ListPosition = end) => {
      const values = [accountId, filter.endpointId ?? null, filter.deliveryId ?? null, after.at, after.id, limit + 1];
      return (await pool.query<Attempt>(listAttempts, values)).rows;
    },
    /** Removes events created before `before` with their deliveries; answers how many events, at most 1,000. */
    trim: async (before: Date): Promise<number> => (await pool.query(trimEvents, [before])).rowCount,
  };
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;
