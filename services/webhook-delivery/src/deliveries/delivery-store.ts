import { type ListRange, newestFirst, type Pool, rangeValues, sql, type Tx, table } from "@signalbox/storage";
import type { Attempt, Delivery } from "./delivery.ts";

const events = table("webhook_events", {
  id: "text",
  accountId: "text",
  type: "text",
  body: "bytea",
  traceparent: "text",
  createdAt: "timestamptz",
});
const deliveries = table("deliveries", {
  id: "text",
  endpointId: "text",
  accountId: "text",
  eventId: "text",
  status: "text",
  attempts: "int4",
  lastStatus: "int4",
  lastError: "text",
  createdAt: "timestamptz",
  lastAttemptAt: "timestamptz",
  nextAttemptAt: "timestamptz",
});
const attempts = table("delivery_attempts", {
  id: "text",
  deliveryId: "text",
  endpointId: "text",
  accountId: "text",
  number: "int4",
  startedAt: "timestamptz",
  durationMs: "int4",
  status: "int4",
  error: "text",
  response: "text",
});

const insertDeliveries = sql(
  "delivery.insert",
  `insert into deliveries (id, endpoint_id, account_id, event_id, status, attempts, created_at, next_attempt_at)
   select id, endpoint_id, $3, $4, status, 0, $5, next_attempt_at
   from unnest($1::text[], $2::text[], $6::text[], $7::timestamptz[]) as new (id, endpoint_id, status, next_attempt_at)
   on conflict (endpoint_id, event_id) do nothing`,
);
const holdPending = sql(
  "delivery.hold",
  "update deliveries set status = 'held', next_attempt_at = null where endpoint_id = $1 and status = 'pending'",
);
const releaseHeld = sql(
  "delivery.release",
  "update deliveries set status = 'pending', next_attempt_at = $2 where endpoint_id = $1 and status = 'held'",
);
const releaseHeldOfAccount = sql(
  "delivery.release-account",
  `update deliveries as d set status = 'pending', next_attempt_at = $2 from endpoints as p
   where p.id = d.endpoint_id and p.status = 'enabled' and d.account_id = $1 and d.status = 'held'`,
);
const accountsToRecheck = sql(
  "delivery.accounts-to-recheck",
  "select distinct account_id as id from deliveries where status = 'held' and next_attempt_at <= $1",
);
const postponeRecheck = sql(
  "delivery.postpone-recheck",
  "update deliveries set next_attempt_at = $2 where account_id = $1 and status = 'held' and next_attempt_at <= $2",
);
const select = `select ${deliveries.columns}, (select type from webhook_events where id = event_id) as "eventType" from deliveries`;
const findDelivery = sql("delivery.find", `${select} where id = $1 and account_id = $2`);
const listDeliveries = sql(
  "delivery.list",
  `${select} where account_id = $1 and ($2::text is null or endpoint_id = $2) and ($3::text is null or status = $3)
     and ${newestFirst(4)}`,
);
const listAttempts = sql(
  "attempt.list",
  `select ${attempts.columns} from delivery_attempts
   where account_id = $1 and ($2::text is null or endpoint_id = $2) and ($3::text is null or delivery_id = $3)
     and ${newestFirst(4, "started_at")}`,
);

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
    async insert(tx: Tx, event: NewEvent, made: readonly NewDelivery[], at: Date): Promise<void> {
      await events.insertNew(tx, event);
      const [ids, endpointIds] = [made.map(({ id }) => id), made.map(({ endpointId }) => endpointId)];
      const [statuses, times] = [made.map(({ status }) => status), made.map(({ nextAttemptAt }) => nextAttemptAt)];
      await tx.query(insertDeliveries, [ids, endpointIds, event.accountId, event.id, at, statuses, times]);
    },
    insertAttempt: (tx: Tx, attempt: Attempt) => attempts.insert(tx, attempt),
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
    async list(accountId: string, { endpointId, status }: ListFilter, range: ListRange): Promise<Delivery[]> {
      const values = [accountId, endpointId ?? null, status ?? null, ...rangeValues(range)];
      return (await pool.query<Delivery>(listDeliveries, values)).rows;
    },
    async listAttempts(
      accountId: string,
      { endpointId, deliveryId }: ListFilter,
      range: ListRange,
    ): Promise<Attempt[]> {
      const values = [accountId, endpointId ?? null, deliveryId ?? null, ...rangeValues(range)];
      return (await pool.query<Attempt>(listAttempts, values)).rows;
    },
  };
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;
