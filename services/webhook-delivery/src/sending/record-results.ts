import { type FreshEntry, freshBatch } from "@signalbox/service";
import { type BinaryColumn, binaryColumnsOf, type Queryable, sql } from "@signalbox/storage";
import type { Attempt } from "../deliveries/attempt.ts";
import type { LeasedDelivery } from "../deliveries/delivery.ts";
import { splitId } from "../endpoints/endpoint-id.ts";

export interface Result {
  readonly delivery: LeasedDelivery;
  readonly attempt: Attempt;
  readonly status: "pending" | "succeeded" | "exhausted";
  readonly used: number;
  readonly delayMs: number | null;
  /** True for a failure, false for a success of the endpoint; null for a test, which does not count. */
  readonly failed: boolean | null;
}

export interface Recorded {
  readonly won: ReadonlySet<string>;
  /** Endpoints that have failed for some time and have to be judged. */
  readonly failing: readonly string[];
}

/**
 * Not prepared: a plan made early in a day would later read the whole day. The bounds of created_at keep other days out
 * of the plan.
 *
 * Writes the results of attempts. An attempt whose lease another instance holds by now changes nothing, but is listed.
 * Ended deliveries leave the queue; others get their next time, by the clock of the database. The statement may be
 * repeated when its answer was lost: written rows stay. The figures count what the lease still held for, so that each
 * attempt counts once. The failures of an endpoint are counted from the first one,
 * together with its successes, until the share of successes is high enough; for an endpoint without a failure nothing
 * is written.
 */
const record = sql(
  "",
  `with given as materialized (
     select * from unnest($1::text[], $2::timestamptz[], $3::text[], $4::timestamptz[], $5::text[], $6::int[], $7::int[],
       $8::int[], $9::text[], $10::timestamptz[], $11::text[], $12::text[], $13::int[], $14::text[], $15::int[],
       $16::bool[], $17::text[], $18::text[], $19::text[], $25::text[])
       as given (id, created_at, endpoint_id, leased_until, status, delay_ms, number,
         http_status, error, started_at, attempt_id, account_id, duration_ms, response, used, failed, phase, decision,
         exchange, event_type)
   ), ended as (
     delete from delivery_queue as q using given
     where delay_ms is null and q.endpoint_id = given.endpoint_id and q.due_at = given.leased_until
       and q.delivery_id = given.id
     returning q.delivery_id as id
   ), postponed as (
     update delivery_queue as q
     set due_at = statement_timestamp() + delay_ms * interval '1 ms', leased_by = null, lease_id = null from given
     where delay_ms is not null and q.endpoint_id = given.endpoint_id and q.due_at = given.leased_until
       and q.delivery_id = given.id
     returning q.delivery_id as id
   ), won as materialized (select id from ended union all select id from postponed),
   changed as (
     update deliveries as d set status = given.status, attempts = used, last_status = http_status, last_error = error,
       last_attempt_at = started_at, next_attempt_at = statement_timestamp() + delay_ms * interval '1 ms',
       exhausted_at = case when given.status = 'exhausted' then statement_timestamp() else exhausted_at end
     from given join won using (id) where d.id = given.id and d.created_at = given.created_at and d.created_at between $20 and $21
   ), logged as (
     insert into delivery_attempts (id, delivery_id, endpoint_id, account_id, number, started_at, duration_ms, status,
       error, response, counted, phase, decision, next_attempt_at, exchange, event_type)
     select attempt_id, id, endpoint_id, account_id, number, started_at, duration_ms, http_status, error, response,
       won.id is not null, phase, decision, statement_timestamp() + delay_ms * interval '1 ms', exchange::jsonb, event_type
     from given left join won using (id)
     on conflict do nothing
   ), figures as (
     insert into signalbox.fresh_statistics (batch, counted)
     select $26, case when held < cardinality($1::text[])
       then array(select array_position($1::text[], id) from won) end
     from (select count(*) as held from won) as sum where held > 0
   ), counts as (
     select endpoint_id, min(started_at) filter (where failed) as since, count(*) filter (where failed) as failures,
       count(*) filter (where not failed) as successes
     from given join won using (id) where failed is not null group by endpoint_id
   ), health as (
     insert into endpoint_health as h (endpoint_id, failing_since, failures, successes)
     select endpoint_id, since, failures, successes from counts
     where failures > 0 or exists (
       select from endpoint_health x where x.endpoint_id = counts.endpoint_id and failing_since is not null)
     order by endpoint_id
     on conflict (endpoint_id) do update set (failing_since, failures, successes, told_at) = (
       select case when fails then coalesce(h.failing_since, excluded.failing_since) end,
         case when fails then h.failures + excluded.failures else 0 end,
         case when fails then h.successes + excluded.successes else 0 end,
         case when fails then h.told_at end
       from (select h.failures + excluded.failures
         >= $22::float8 * (h.failures + excluded.failures + h.successes + excluded.successes) as fails) as sum)
     returning endpoint_id, failing_since, told_at
   )
   select array(select id from won) as won, array(
     select endpoint_id from health
     where failing_since <= statement_timestamp() - case when told_at is null then $23::float8 else $24::float8 end
       * interval '1 ms') as failing`,
);

interface RecordLimits {
  readonly failedShare: number;
  readonly failingAfterMs: number;
  readonly disableAfterMs: number;
}

const resultColumns: readonly BinaryColumn<Result>[] = [
  ["text", ({ delivery }) => delivery.id],
  ["timestamptz", ({ delivery }) => delivery.createdAt],
  ["text", ({ delivery }) => delivery.endpointId],
  ["timestamptz", ({ delivery }) => delivery.leasedUntil],
  ["text", ({ status }) => status],
  ["int4", ({ delayMs }) => delayMs],
  ["int4", ({ attempt }) => attempt.number],
  ["int4", ({ attempt }) => attempt.status],
  ["text", ({ attempt }) => attempt.error],
  ["timestamptz", ({ attempt }) => attempt.startedAt],
  ["text", ({ attempt }) => attempt.id],
  ["text", ({ delivery }) => delivery.accountId],
  ["int4", ({ attempt }) => attempt.durationMs],
  ["text", ({ attempt }) => attempt.response],
  ["int4", ({ used }) => used],
  ["bool", ({ failed }) => failed],
  ["text", ({ attempt }) => attempt.phase],
  ["text", ({ attempt }) => attempt.decision],
  ["text", ({ attempt }) => attempt.exchange && JSON.stringify(attempt.exchange)],
];

export async function recordResults(
  db: Queryable,
  results: readonly Result[],
  { failedShare, failingAfterMs, disableAfterMs }: RecordLimits,
): Promise<Recorded> {
  const columns = binaryColumnsOf(results, resultColumns);
  const times = results.map(({ delivery }) => delivery.createdAt.getTime());
  const days = [new Date(Math.min(...times)), new Date(Math.max(...times))];
  const types = results.map(({ attempt }) => attempt.eventType);
  const batch = freshBatch(results.map(entryOf));
  const values = [...columns, ...days, failedShare, failingAfterMs, disableAfterMs, types, batch];
  const [recorded] = (await db.query<{ won: string[]; failing: string[] }>(record, values)).rows;
  return { won: new Set(recorded?.won), failing: recorded?.failing ?? [] };
}

/** Returns what an attempt counts for, in the minute in which it ended. A named consumer counts at its endpoint. */
export function entryOf({ delivery, attempt, status }: Result): FreshEntry {
  const isDelivered = status === "succeeded";
  return {
    accountId: delivery.accountId,
    subjectId: splitId(delivery.endpointId).endpointId,
    atMs: attempt.startedAt.getTime() + attempt.durationMs,
    labels: [attempt.eventType, answerClass(attempt.status), attempt.error],
    counts: [1, Number(isDelivered), Number(!isDelivered), Number(status === "exhausted")],
    durationMs: attempt.durationMs,
  };
}

/** `2xx` to `5xx`, or `none` if there was no response. */
export const answerClass = (status: number | null): string =>
  status === null ? "none" : `${Math.floor(status / 100)}xx`;

const park = sql(
  "",
  `with left_queue as (
     delete from delivery_queue where endpoint_id = $1 and due_at = $2 and delivery_id = $3 returning 1
   )
   update deliveries set status = 'parked', last_error = $5, next_attempt_at = null
   where id = $3 and created_at = $4 and exists (select from left_queue)`,
);

/** Parks a leased delivery with the reason; false when another instance held the lease. */
export async function parkDelivery(db: Queryable, delivery: LeasedDelivery, reason: string): Promise<boolean> {
  const { endpointId, leasedUntil, id, createdAt } = delivery;
  return (await db.query(park, [endpointId, leasedUntil, id, createdAt, reason])).rowCount === 1;
}
