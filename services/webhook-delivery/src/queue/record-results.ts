import { columnsOf, type Queryable, sql } from "@signalbox/storage";
import type { Attempt } from "../deliveries/delivery.ts";
import type { LeasedDelivery } from "./delivery-queue.ts";

/** An attempt, and what follows from it. */
export interface Result {
  readonly delivery: LeasedDelivery;
  readonly attempt: Attempt;
  readonly status: "pending" | "succeeded" | "exhausted";
  /** How long after now the next attempt is due; null when there is none. */
  readonly delayMs: number | null;
}

/**
 * Not prepared: a plan that is made while a day is young would read all of it later. The bounds of the days keep the others
 * out of the plan.
 *
 * Writes what came of attempts. One whose lease is another's by now changes nothing, but is shown. What is over leaves the
 * queue; what goes on gets its next time, by the clock of the database. May be sent again when its answer was lost: what
 * was written stays as it is.
 */
const record = sql(
  "",
  `with given as materialized (
     select * from unnest($1::text[], $2::timestamptz[], $3::text[], $4::timestamptz[], $5::text[], $6::int[], $7::int[],
       $8::int[], $9::text[], $10::timestamptz[], $11::text[], $12::text[], $13::int[], $14::text[])
       as given (id, created_at, endpoint_id, leased_until, status, delay_ms, number,
         http_status, error, started_at, attempt_id, account_id, duration_ms, response)
   ), ended as (
     delete from delivery_queue as q using given
     where delay_ms is null and q.endpoint_id = given.endpoint_id and q.due_at = given.leased_until
       and q.delivery_id = given.id
     returning q.delivery_id as id
   ), postponed as (
     update delivery_queue as q
     set due_at = statement_timestamp() + delay_ms * interval '1 ms', leased_by = null from given
     where delay_ms is not null and q.endpoint_id = given.endpoint_id and q.due_at = given.leased_until
       and q.delivery_id = given.id
     returning q.delivery_id as id
   ), won as materialized (select id from ended union all select id from postponed),
   changed as (
     update deliveries as d set status = given.status, attempts = number, last_status = http_status, last_error = error,
       last_attempt_at = started_at, next_attempt_at = statement_timestamp() + delay_ms * interval '1 ms',
       exhausted_at = case when given.status = 'exhausted' then statement_timestamp() else exhausted_at end
     from given join won using (id) where d.id = given.id and d.created_at = given.created_at and d.created_at between $15 and $16
   ), logged as (
     insert into delivery_attempts (id, delivery_id, endpoint_id, account_id, number, started_at, duration_ms, status,
       error, response, counted)
     select attempt_id, id, endpoint_id, account_id, number, started_at, duration_ms, http_status, error, response,
       won.id is not null
     from given left join won using (id)
     on conflict do nothing
   )
   select id from won`,
);

/** Writes results; answers the ids of those whose lease still held. */
export async function recordResults(db: Queryable, results: readonly Result[]): Promise<ReadonlySet<string>> {
  const columns = columnsOf(results, [
    ({ delivery }) => delivery.id,
    ({ delivery }) => delivery.createdAt,
    ({ delivery }) => delivery.endpointId,
    ({ delivery }) => delivery.leasedUntil,
    ({ status }) => status,
    ({ delayMs }) => delayMs,
    ({ attempt }) => attempt.number,
    ({ attempt }) => attempt.status,
    ({ attempt }) => attempt.error,
    ({ attempt }) => attempt.startedAt,
    ({ attempt }) => attempt.id,
    ({ delivery }) => delivery.accountId,
    ({ attempt }) => attempt.durationMs,
    ({ attempt }) => attempt.response,
  ]);
  const times = results.map(({ delivery }) => delivery.createdAt.getTime());
  const days = [new Date(Math.min(...times)), new Date(Math.max(...times))];
  return new Set((await db.query<{ id: string }>(record, [...columns, ...days])).rows.map(({ id }) => id));
}

const park = sql(
  "",
  `with left_queue as (
     delete from delivery_queue where endpoint_id = $1 and due_at = $2 and delivery_id = $3 returning 1
   )
   update deliveries set status = 'parked', last_error = $5, next_attempt_at = null
   where id = $3 and created_at = $4 and exists (select from left_queue)`,
);

/** Takes a leased delivery out of the queue, for its owner to retry; says why. */
export async function parkDelivery(db: Queryable, delivery: LeasedDelivery, reason: string): Promise<void> {
  const { endpointId, leasedUntil, id, createdAt } = delivery;
  await db.query(park, [endpointId, leasedUntil, id, createdAt, reason]);
}
