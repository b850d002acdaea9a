import { type Pool, sql, type Tx } from "@signalbox/storage";
import type { SealedSecrets } from "../endpoints/endpoint-store.ts";
import type { Attempt } from "./delivery.ts";

/** A delivery that this instance has leased, with everything one attempt needs. */
export interface DueDelivery extends SealedSecrets {
  readonly id: string;
  readonly endpointId: string;
  readonly accountId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly body: Buffer;
  readonly traceparent: string | null;
  /** Attempts made before this one: also the fence, since only one attempt may follow them. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly url: string;
  readonly scheduleSeconds: readonly number[] | null;
  readonly timeoutSeconds: number | null;
  /** The endpoint's own bound of attempts at the same time. */
  readonly inFlightMax: number | null;
}

/** What the attempt changes of the delivery. */
export interface Settlement {
  readonly status: "pending" | "held" | "succeeded" | "exhausted";
  readonly nextAttemptAt: Date | null;
}

const lease = sql(
  "due.lease",
  `with due as (
     select d.id from deliveries as d join endpoints as p on p.id = d.endpoint_id
     where d.status = 'pending' and d.next_attempt_at <= $1 and (d.leased_until is null or d.leased_until < $1)
       and p.status = 'enabled' and d.endpoint_id <> all($4::text[])
     order by d.next_attempt_at limit $2 for update of d skip locked)
   update deliveries as d set leased_until = $3
   from due, endpoints as p, webhook_events as e
   where d.id = due.id and p.id = d.endpoint_id and e.id = d.event_id
   returning d.id, d.endpoint_id as "endpointId", d.account_id as "accountId", d.event_id as "eventId",
     e.type as "eventType", e.body, e.traceparent, d.attempts,
     d.created_at as "createdAt", p.url, p.settings->'retry_schedule_seconds' as "scheduleSeconds",
     (p.settings->>'timeout_seconds')::int as "timeoutSeconds",
     (p.settings->>'max_in_flight')::int as "inFlightMax", p.sealed_secret as "sealedSecret",
     p.sealed_previous_secret as "sealedPreviousSecret", p.previous_secret_until as "previousSecretUntil"`,
);
const settle = sql(
  "due.settle",
  `update deliveries set status = $3, attempts = $2 + 1, last_status = $4, last_error = $5, last_attempt_at = $6,
     next_attempt_at = $7, leased_until = null where id = $1 and attempts = $2`,
);
const putBack = sql(
  "due.put-back",
  "update deliveries set leased_until = null where id = any($1::text[]) and leased_until = $2",
);
const holdForAccount = sql(
  "due.hold-for-account",
  `update deliveries set status = 'held', next_attempt_at = $3, leased_until = null
   where id = $1 and attempts = $2 and status = 'pending'`,
);
const oldestDue = sql("due.oldest", "select min(next_attempt_at) as at from deliveries where status = 'pending'");

/** The queue that deliveries are taken from: rows of PostgreSQL that are due, leased to one instance at a time. */
export function createDueDeliveries(pool: Pool) {
  return {
    /** Leases up to `count` deliveries that are due at `at`, none of `busyEndpoints`. */
    lease: async (count: number, at: Date, until: Date, busyEndpoints: readonly string[]): Promise<DueDelivery[]> =>
      (await pool.query<DueDelivery>(lease, [at, count, until, [...busyEndpoints]])).rows,
    /** Writes what follows from the attempt. False when another attempt was faster: the lease had run out. */
    async settle(tx: Tx, due: DueDelivery, attempt: Attempt, next: Settlement): Promise<boolean> {
      const { status, error, startedAt } = attempt;
      const values = [due.id, due.attempts, next.status, status, error, startedAt, next.nextAttemptAt];
      return (await tx.query(settle, values)).rowCount === 1;
    },
    /** Gives leases that were taken until `until` back, without an attempt. */
    putBack: async (some: readonly DueDelivery[], until: Date): Promise<void> =>
      void (await pool.query(putBack, [some.map(({ id }) => id), until])),
    /** Holds it, without an attempt, because its account may not act; to be looked at again at `recheckAt`. */
    holdForAccount: async (due: DueDelivery, recheckAt: Date): Promise<void> =>
      void (await pool.query(holdForAccount, [due.id, due.attempts, recheckAt])),
    /** When the delivery that waits longest was due, or will be; null when none waits. */
    oldestDue: async (): Promise<Date | null> => (await pool.query<{ at: Date | null }>(oldestDue)).rows[0]?.at ?? null,
  };
}

export type DueDeliveries = ReturnType<typeof createDueDeliveries>;
