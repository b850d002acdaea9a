import type { WebhookEndpointResource } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import { type Queryable, sql } from "@signalbox/storage";

export type Rate = NonNullable<WebhookEndpointResource["settings"]["rate"]>;

/** Share of a rate's period that a late caller may catch up on. It keeps the rate within 5 %. */
const lateShare = 0.05;
/** Shortest time between two grants, so that a fast endpoint gets several attempts at once. */
const grantMsMin = 5;

/** Grants the times of attempts (GCRA). A late caller also gets those that have passed, unless too long ago. */
const grant = sql(
  "rate.grant",
  `update endpoint_rates as r set (next_at, granted) = (
     select base + n * given.step, n
     from (select greatest(r.next_at, statement_timestamp() - given.late) as base) as b cross join lateral (
       select greatest(0, least(given.wanted, floor(
         extract(epoch from statement_timestamp() - base) / extract(epoch from given.step))::int + 1)) as n) as c)
   from (
     select endpoint_id, wanted, step_ms * interval '1 ms' as step, late_ms * interval '1 ms' as late
     from unnest($1::text[], $2::int[], $3::float8[], $4::float8[]) as g (endpoint_id, wanted, step_ms, late_ms)
   ) as given
   where r.endpoint_id = given.endpoint_id
   returning r.endpoint_id as id, granted, extract(epoch from next_at - statement_timestamp())::float8 * 1000 as "nextInMs"`,
);
const begin = sql(
  "rate.begin",
  `insert into endpoint_rates (endpoint_id, next_at, granted)
   select id, statement_timestamp(), 0 from unnest($1::text[]) as given (id) on conflict do nothing`,
);
const giveBack = sql(
  "rate.give-back",
  "update endpoint_rates set next_at = next_at - $2::float8 * interval '1 ms' where endpoint_id = $1",
);

const stepMs = ({ limit, per_seconds }: Rate): number => seconds(per_seconds) / limit;

/** Cuts the rooms to what the rates grant now; returns the milliseconds until they grant more. */
export async function grantAttempts(db: Queryable, rooms: Map<string, number>, rates: ReadonlyMap<string, Rate>) {
  let grants = await take(db, rooms, rates);
  if (grants.length < rates.size) {
    await db.query(begin, [[...rates.keys()].filter((id) => !grants.some((one) => one.id === id)).toSorted()]);
    const left = new Map([...rates].filter(([id]) => !grants.some((one) => one.id === id)));
    grants = [...grants, ...(await take(db, rooms, left))];
  }
  for (const { id, granted } of grants) {
    if (granted > 0) rooms.set(id, granted);
    else rooms.delete(id);
  }
  return Math.max(grantMsMin, Math.min(...grants.map(({ nextInMs }) => nextInMs)));
}

export const giveBackGrants = async (db: Queryable, id: string, rate: Rate, count: number): Promise<void> =>
  void (await db.query(giveBack, [id, count * stepMs(rate)]));

async function take(db: Queryable, rooms: ReadonlyMap<string, number>, rates: ReadonlyMap<string, Rate>) {
  // All instances lock in the same order, or two could deadlock.
  const asked = [...rates].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const { rows } = await db.query<{ id: string; granted: number; nextInMs: number }>(grant, [
    asked.map(([id]) => id),
    asked.map(([id]) => rooms.get(id) ?? 0),
    asked.map(([, rate]) => stepMs(rate)),
    asked.map(([, rate]) => seconds(rate.per_seconds) * lateShare),
  ]);
  return rows;
}
