import { hours, seconds, timeOfPublicId } from "@signalbox/core";
import { dayMs, sql, startOfDay, stretchesBack } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import type { Delivery } from "./delivery.ts";

/** An event without its bytes. */
export interface ChainEvent {
  readonly id: string;
  readonly type: string;
  readonly createdAt: Date;
  /** Account that it is about, on a copy for operators. */
  readonly aboutAccountId: string | null;
  /** The image or the received webhook that it is about. */
  readonly aboutId: string | null;
}

const event = `id, type, created_at as "createdAt", about_account_id as "aboutAccountId", about_id as "aboutId"`;
// Unnamed, here and below: planned with its values, a statement reads the tables of the days in question alone.
const findEvents = sql(
  "",
  `select ${event} from webhook_events where account_id = $1 and id = $2 and created_at between $3 and $4 limit 1`,
);
const findPublished = sql(
  "why.published",
  "select created_at as at from published_events where account_id = $1 and id = $2",
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

/** The id of an event has its time by the same clock, or by that of an instance nearby. */
const clockMs = seconds(1);
const skewMs = hours(1);
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns the time from which events and deliveries are kept. */
export const oldestMs = ({ clock, configuration }: DeliveryService): number =>
  startOfDay(clock.nowMs() - configuration.get("webhook-delivery.retention"));

/** Finds the event of a delivery. */
export const eventOfDelivery = (service: DeliveryService, { accountId, eventId, createdAt }: Delivery) =>
  eventBetween(service, accountId, eventId, createdAt.getTime(), 0);

/** Finds an event by its id, the publisher's own or ours. */
export async function chainEvent(service: DeliveryService, accountId: string, id: string): Promise<ChainEvent | null> {
  const [published] = (await service.pool.query<{ at: Date }>(findPublished, [accountId, id])).rows;
  if (published) return eventBetween(service, accountId, id, published.at.getTime(), 0);
  const ms = timeInId(id);
  if (ms === null) return null;
  return (await eventBetween(service, accountId, id, ms, clockMs)) ?? eventBetween(service, accountId, id, ms, skewMs);
}

async function eventBetween(
  { pool }: DeliveryService,
  accountId: string,
  id: string,
  ms: number,
  rangeMs: number,
): Promise<ChainEvent | null> {
  const values = [accountId, id, new Date(ms - rangeMs), new Date(ms + rangeMs)];
  return (await pool.query<ChainEvent>(findEvents, values)).rows[0] ?? null;
}

/** Lists the first events of a trace. Its work ends soon, so that one range of days has them all. */
export async function eventsOfTrace(
  service: DeliveryService,
  accountId: string,
  traceId: string,
  limit: number,
): Promise<ChainEvent[]> {
  const { pool, clock } = service;
  for (const { fromMs, toMs } of stretchesBack({ fromMs: oldestMs(service), toMs: clock.nowMs() + dayMs })) {
    const values = [accountId, traceId, new Date(fromMs), new Date(toMs), limit];
    const { rows } = await pool.query<ChainEvent>(ofTrace, values);
    if (rows.length > 0) return rows;
  }
  return [];
}

/** Lists the newest events about a thing that was created at `ms`. */
export async function eventsAbout(
  service: DeliveryService,
  accountId: string,
  id: string,
  ms: number,
  limit: number,
): Promise<ChainEvent[]> {
  const values = [accountId, id, new Date(Math.max(ms - skewMs, oldestMs(service))), limit];
  return (await service.pool.query<ChainEvent>(about, values)).rows;
}

/** Returns the bodies of events by their ids. */
export async function bodiesOf(
  { pool }: DeliveryService,
  accountId: string,
  events: readonly ChainEvent[],
): Promise<Map<string, Buffer>> {
  const values = [accountId, events.map(({ id }) => id), events.map(({ createdAt }) => createdAt)];
  const { rows } = await pool.query<{ id: string; body: Buffer }>(bodies, values);
  return new Map(rows.map(({ id, body }) => [id, body]));
}

/** Returns the time in a UUIDv7 or in one of our ids of events; null for any other id. */
function timeInId(id: string): number | null {
  if (uuid.test(id)) return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  return id.startsWith("evt_") ? timeOfPublicId(id) : null;
}
