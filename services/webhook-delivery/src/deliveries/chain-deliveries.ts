import { hours, seconds, timeOfPublicId } from "@signalbox/core";
import { sql, table } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import { type Endpoint, endpointFromRow } from "../endpoints/endpoint.ts";
import { columns } from "../generated/columns.ts";
import type { Attempt } from "./attempt.ts";
import type { Delivery } from "./delivery.ts";

/** An attempt as a step of a chain. */
export interface ChainAttempt
  extends Pick<
    Attempt,
    "id" | "deliveryId" | "number" | "startedAt" | "durationMs" | "status" | "error" | "decision" | "counted"
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

const endpoints = table("endpoints", columns.endpoints, ["deletedAt", "releasedAt"]);
/** Consumers are among them: they have deliveries of their own. */
const listEndpoints = sql(
  "why.endpoints",
  `select ${endpoints.columns}, null as secrets from endpoints where account_id = $1 and deleted_at is null order by id`,
);

// Unnamed, here and below: planned with its values, a statement reads the tables of the days in question alone.
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
  `select distinct "deliveryId" as id from (
     select delivery_id as "deliveryId", exchange->'requestHeaders'->>'X-Replay-Id' as "replayId" from delivery_attempts
     where endpoint_id = $1 and started_at >= $2 order by started_at limit $4) as first
   where "replayId" = $3 limit $5`,
);

/** The id of an attempt has its time by the clock of one instance; the times of its event may be by another's. */
const clockMs = seconds(1);
const skewMs = hours(1);
const attemptsMax = 50;
/** Attempts that are looked through for those of a replay. */
const replayedRowsMax = 500;

/** Lists the endpoints of an account for its chains. */
export const chainEndpoints = async ({ pool }: DeliveryService, accountId: string): Promise<Endpoint[]> =>
  (await pool.query<Endpoint>(listEndpoints, [accountId])).rows.map(endpointFromRow);

/** Lists the newest attempts of each delivery. */
export async function chainAttempts(
  { pool, clock }: DeliveryService,
  accountId: string,
  deliveries: readonly Delivery[],
): Promise<ChainAttempt[]> {
  if (deliveries.length === 0) return [];
  const since = Math.min(...deliveries.map(({ createdAt }) => createdAt.getTime())) - skewMs;
  const until = Math.max(...deliveries.map(({ lastAttemptAt }) => lastAttemptAt?.getTime() ?? clock.nowMs())) + skewMs;
  const values = [accountId, deliveries.map(({ id }) => id), new Date(since), new Date(until), attemptsMax];
  return (await pool.query<ChainAttempt>(attemptsOf, values)).rows;
}

/** Lists the places of those deliveries that wait for another one of their key. */
export async function chainPlaces(
  { pool }: DeliveryService,
  accountId: string,
  deliveries: readonly Delivery[],
): Promise<ChainPlace[]> {
  if (deliveries.length === 0) return [];
  const values = [accountId, deliveries.map(({ id }) => id), deliveries.map(({ createdAt }) => createdAt)];
  return (await pool.query<ChainPlace>(placesOf, values)).rows;
}

/** Finds the delivery of an attempt or of a live lease, whose ids have the time of their start. */
export async function deliveryOfAttempt(
  service: DeliveryService,
  accountId: string,
  attemptId: string,
): Promise<string | null> {
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
  endpointId: string,
  replayId: string,
  since: Date,
  limit: number,
): Promise<string[]> {
  const values = [endpointId, since, replayId, replayedRowsMax, limit];
  return (await pool.query<{ id: string }>(replayedBy, values)).rows.map(({ id }) => id);
}
