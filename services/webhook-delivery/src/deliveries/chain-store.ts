import { hours, seconds, timeOfPublicId } from "@signalbox/core";
import { dayMs, sql, startOfDay, stretchesBack, table } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import { type Endpoint, endpointFromRow } from "../endpoints/endpoint.ts";
import { publishedMs, timeIn } from "../events/event-store.ts";
import { columns } from "../generated/columns.ts";
import type { WebhookEvent as Row } from "../generated/prisma/client.ts";
import type { Attempt } from "./attempt.ts";
import type { Delivery } from "./delivery.ts";

/** An event without its body. */
export type ChainEvent = Omit<Row, "accountId" | "body" | "traceparent" | "deliveries">;

export interface ChainAttempt
  extends Omit<
    Attempt,
    "endpointId" | "accountId" | "eventType" | "response" | "phase" | "nextAttemptAt" | "exchange"
  > {
  readonly replayId: string | null;
}

/** The place of a delivery of an ordered endpoint in the queue. */
export interface ChainPlace {
  readonly deliveryId: string;
  readonly orderKey: string;
  /** The delivery of the key that goes out first. */
  readonly firstId: string;
}

const event = `id, type, created_at as "createdAt", about_account_id as "aboutAccountId", about_id as "aboutId"`;
// Unnamed, here and below: planned with its values, a statement reads the tables of the days in question alone.
const findEvents = sql(
  "",
  `select ${event} from webhook_events where account_id = $1 and id = $2 and created_at between $3 and $4 limit 1`,
);
// The index of traces knows no accounts: the account is judged on what it finds.
const ofTrace = sql(
  "",
  `select * from (
     select ${event}, account_id from webhook_events
     where substr(traceparent, 4, 32) = $2 and created_at >= $3 and created_at < $4 offset 0) as found
   where account_id = $1 and "aboutAccountId" is null order by "createdAt" limit $5`,
);
const about = sql(
  "",
  `select ${event} from webhook_events
   where about_id = $2 and account_id = $1 and about_account_id is null and created_at >= $3
   order by created_at desc limit $4`,
);
const bodies = sql(
  "",
  `select id, body from webhook_events where account_id = $1 and id = any ($2) and created_at = any ($3)`,
);

const endpoints = table("endpoints", columns.endpoints, ["deletedAt", "releasedAt"]);
/** Consumers are among them: they have deliveries of their own. */
const listEndpoints = sql(
  "why.endpoints",
  `select ${endpoints.columns}, null as secrets from endpoints where account_id = $1 and deleted_at is null order by id`,
);

const attemptsOf = sql(
  "",
  `select a.* from unnest($2::text[]) as given (id) cross join lateral (
     select id, delivery_id as "deliveryId", number, started_at as "startedAt", duration_ms as "durationMs", status, error,
       decision, counted, exchange->'requestHeaders'->>'X-Replay-Id' as "replayId"
     from delivery_attempts where delivery_id = given.id and account_id = $1 and started_at between $3 and $4
     order by started_at desc limit $5) as a`,
);
const placesOf = sql(
  "",
  `select d.id as "deliveryId", d.order_key as "orderKey", first.delivery_id as "firstId"
   from unnest($2::text[], $3::timestamptz[]) as given (id, at) cross join lateral (
     select * from deliveries where id = given.id and created_at = given.at and account_id = $1 offset 0) as d
   join delivery_queue as q on q.endpoint_id = d.endpoint_id and q.order_key = d.order_key and q.sequence = d.sequence
   cross join lateral (
     select delivery_id from delivery_queue where endpoint_id = d.endpoint_id and order_key = d.order_key
     order by sequence limit 1) as first
   where q.due_at = 'infinity'`,
);
const attemptedAt = sql(
  "",
  `select delivery_id as id from delivery_attempts
   where endpoint_id = any ($2) and started_at between $3 and $4 and id = $1 limit 1`,
);
const leasedAs = sql(
  "why.leased",
  "select delivery_id as id from delivery_queue where endpoint_id = any ($2) and lease_id = $1",
);
const replayedBy = sql(
  "",
  `select distinct "deliveryId" as id from unnest($1::text[]) as p (id) cross join lateral (
     select delivery_id as "deliveryId", exchange->'requestHeaders'->>'X-Replay-Id' as "replayId" from delivery_attempts
     where endpoint_id = p.id and started_at >= $2 order by started_at limit $4) as first
   where "replayId" = $3 limit $5`,
);

/** An id has its time by the clock of one instance; the times of its event may be by another's. */
const clockMs = seconds(1);
const skewMs = hours(1);
const attemptsMax = 50;
/** Attempts of each endpoint that are looked through for those of a replay. */
const replayedRowsMax = 500;

/** Returns the time from which events and deliveries are kept. */
export const oldestMs = ({ clock, configuration }: DeliveryService): number =>
  startOfDay(clock.nowMs() - configuration.get("webhook-delivery.retention"));

export const eventOfDelivery = (service: DeliveryService, { accountId, eventId, createdAt }: Delivery) =>
  eventBetween(service, accountId, eventId, createdAt.getTime(), 0);

/** Finds an event by its id, the publisher's own or ours. */
export async function chainEvent(service: DeliveryService, accountId: string, id: string): Promise<ChainEvent | null> {
  const published = await publishedMs(service.pool, accountId, id);
  if (published !== null) return eventBetween(service, accountId, id, published, 0);
  const ms = timeIn(id);
  if (ms === null) return null;
  return (await eventBetween(service, accountId, id, ms, clockMs)) ?? eventBetween(service, accountId, id, ms, skewMs);
}

async function eventBetween({ pool }: DeliveryService, accountId: string, id: string, ms: number, rangeMs: number) {
  const values = [accountId, id, new Date(ms - rangeMs), new Date(ms + rangeMs)];
  return (await pool.query<ChainEvent>(findEvents, values)).rows[0] ?? null;
}

/** Lists the first events of a trace. Its work ends soon, so that one range of days has them all. */
export async function eventsOfTrace(service: DeliveryService, accountId: string, traceId: string, limit: number) {
  const { pool, clock } = service;
  for (const { fromMs, toMs } of stretchesBack({ fromMs: oldestMs(service), toMs: clock.nowMs() + dayMs })) {
    const values = [accountId, traceId, new Date(fromMs), new Date(toMs), limit];
    const { rows } = await pool.query<ChainEvent>(ofTrace, values);
    if (rows.length > 0) return rows;
  }
  return [];
}

/** Lists the newest events about a thing that was created at `ms`. */
export async function eventsAbout(service: DeliveryService, accountId: string, id: string, ms: number, limit: number) {
  const values = [accountId, id, new Date(Math.max(ms - skewMs, oldestMs(service))), limit];
  return (await service.pool.query<ChainEvent>(about, values)).rows;
}

export async function bodiesOf({ pool }: DeliveryService, accountId: string, events: readonly ChainEvent[]) {
  const values = [accountId, events.map(({ id }) => id), events.map(({ createdAt }) => createdAt)];
  const { rows } = await pool.query<{ id: string; body: Buffer }>(bodies, values);
  return new Map(rows.map(({ id, body }) => [id, body]));
}

export const chainEndpoints = async ({ pool }: DeliveryService, accountId: string): Promise<Endpoint[]> =>
  (await pool.query<Endpoint>(listEndpoints, [accountId])).rows.map(endpointFromRow);

export async function chainAttempts(service: DeliveryService, accountId: string, deliveries: readonly Delivery[]) {
  const { pool, clock } = service;
  if (deliveries.length === 0) return [];
  const since = Math.min(...deliveries.map(({ createdAt }) => createdAt.getTime())) - skewMs;
  const until = Math.max(...deliveries.map(({ lastAttemptAt }) => lastAttemptAt?.getTime() ?? clock.nowMs())) + skewMs;
  const values = [accountId, deliveries.map(({ id }) => id), new Date(since), new Date(until), attemptsMax];
  return (await pool.query<ChainAttempt>(attemptsOf, values)).rows;
}

/** Lists the places of those deliveries that wait for another one of their key. */
export async function chainPlaces({ pool }: DeliveryService, accountId: string, deliveries: readonly Delivery[]) {
  if (deliveries.length === 0) return [];
  const values = [accountId, deliveries.map(({ id }) => id), deliveries.map(({ createdAt }) => createdAt)];
  return (await pool.query<ChainPlace>(placesOf, values)).rows;
}

/** Finds the delivery of an attempt or of a live lease, whose ids have the time of their start. */
export async function deliveryOfAttempt(service: DeliveryService, accountId: string, attemptId: string) {
  const ms = timeOfPublicId(attemptId);
  if (ms === null) return null;
  const { pool } = service;
  const ids = (await chainEndpoints(service, accountId)).map(({ id }) => id);
  const values = [attemptId, ids, new Date(ms - clockMs), new Date(ms + clockMs)];
  const [attempted] = (await pool.query<{ id: string }>(attemptedAt, values)).rows;
  const [leased] = attempted ? [] : (await pool.query<{ id: string }>(leasedAs, [attemptId, ids])).rows;
  return (attempted ?? leased)?.id ?? null;
}

/** Lists deliveries that a replay has sent again, among the first attempts after its start. */
export async function deliveriesOfReplay(
  { pool }: DeliveryService,
  endpointIds: readonly string[],
  replayId: string,
  since: Date,
  limit: number,
): Promise<string[]> {
  const values = [endpointIds, since, replayId, replayedRowsMax, limit];
  return (await pool.query<{ id: string }>(replayedBy, values)).rows.map(({ id }) => id);
}
