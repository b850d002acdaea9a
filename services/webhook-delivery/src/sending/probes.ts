import { hours } from "@signalbox/core";
import { type Queryable, sql } from "@signalbox/storage";

/** Interval between two probes of an endpoint that was disabled because it failed. */
export const probeEveryMs = hours(1);

const take = sql(
  "health.take-probes",
  `update endpoint_health as h set probe_at = $2
   from (
     select endpoint_id, p.account_id, p.revision from endpoint_health join endpoints as p on p.id = endpoint_id
     where probe_at <= $1 and p.status = 'disabled' and p.disabled_reason = 'failing' and p.deleted_at is null
     order by probe_at limit 16 for update of endpoint_health skip locked) as due
   where h.endpoint_id = due.endpoint_id
   returning h.endpoint_id as id, due.account_id as "accountId", due.revision`,
);

/** Takes the endpoints whose probe is due, each in one instance, and plans the next one. */
export async function takeProbes(db: Queryable, now: Date) {
  const next = new Date(now.getTime() + probeEveryMs);
  return (await db.query<{ id: string; accountId: string; revision: number }>(take, [now, next])).rows;
}
