import { type Queryable, sql } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import { mayWrite } from "./account-access.ts";
import { firstDrainRate } from "./drain-rate.ts";

/** The deliveries of an endpoint that wait, and how fast those that were held go out. */
export interface EndpointBacklog {
  readonly id: string;
  /** Those that wait for their turn or their next attempt. */
  readonly waiting: number;
  /** Those that cannot go out now, or were held by a pause and go out at `drainsPerSecond`. */
  readonly held: number;
  readonly drainsPerSecond: number | null;
  /** The time at which the last held one goes out at this rate; null while nothing drains. */
  readonly drainedAt: Date | null;
  /** Deliveries due by then were held. */
  readonly releasedAt: Date | null;
}

interface BacklogRow extends Omit<EndpointBacklog, "drainsPerSecond" | "drainedAt"> {
  readonly accountId: string;
  readonly rate: number;
  /** False for a pull endpoint too, whose consumers take at their own pace. */
  readonly isSending: boolean;
}

/** Largest count: an index is read for it. */
const countedMax = 100_000;

const backlogs = sql(
  "endpoint.backlogs",
  `select p.id, p.account_id as "accountId", p.released_at as "releasedAt",
     p.status = 'enabled' and p.type = 'push' as "isSending", counts.waiting, counts.held,
     coalesce((p.settings->'rate'->>'limit')::float8 / (p.settings->'rate'->>'per_seconds')::float8,
       r.drains_per_second, ${firstDrainRate}) as rate
   from unnest($1::text[]) as given (id) join endpoints as p using (id)
   left join endpoint_rates as r on r.endpoint_id = p.id
   cross join lateral (
     select count(*) filter (where is_held)::int as held, count(*) filter (where not is_held)::int as waiting
     from (
       select p.status <> 'enabled' or (p.type = 'push' and coalesce(due_at <= p.released_at, false)) as is_held
       from delivery_queue where endpoint_id = p.id order by due_at limit ${countedMax}) as queued) as counts`,
);

/** Counts the deliveries in the queue of these endpoints, up to a hundred thousand of each. */
export async function endpointBacklogs(service: DeliveryService, ids: readonly string[], db: Queryable = service.pool) {
  const { clock, accessStates } = service;
  if (ids.length === 0) return [];
  const { rows } = await db.query<BacklogRow>(backlogs, [ids]);
  return rows.map(({ accountId, rate, isSending, ...row }) => {
    const still = { drainsPerSecond: null, drainedAt: null };
    if (!mayWrite(accessStates, accountId)) return { ...row, waiting: 0, held: row.waiting + row.held, ...still };
    if (!isSending || row.held === 0) return { ...row, ...still };
    const drainedAt = new Date(clock.nowMs() + (row.held * 1_000) / rate);
    return { ...row, drainsPerSecond: Number(rate.toPrecision(3)), drainedAt };
  });
}
