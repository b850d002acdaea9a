import { type Clock, newId, seconds } from "@signalbox/core";
import { type ListRange, newestFirst, type Queryable, rangeValues, sql } from "@signalbox/storage";
import type { IngestService } from "../context/ingest-service.ts";
import type { Outage } from "./reconciliation.ts";

export const beatEveryMs = seconds(5);
/** Longer than a restart of the only instance takes, and than a stall that no sender notices. */
const gapMs = seconds(30);
/** A spell of rejections: so many since the last comparison, and none for a while. */
const spellMin = 5;
const quietMs = seconds(30);
/** A spell that the comparison itself causes must not start the next one. */
const spellEveryMs = seconds(300);

/** The last sign of life, locked, so that of several instances one finds the gap. */
const beat = sql(
  "outage.beat",
  `with former as (
     select beat_at from heartbeats where id = 'ingest' for update
   ), beat as (
     insert into heartbeats as h (id, beat_at) values ('ingest', $1)
     on conflict (id) do update set beat_at = greatest(h.beat_at, excluded.beat_at)
   ), outage as (
     insert into outages (id, from_at, to_at, created_at)
     select $2, beat_at, $1, $1 from former where beat_at < $3 returning id, from_at
   ), due as (
     update reconciliation_schedules set trigger = 'outage', outage_id = outage.id,
       due_at = case when run_id is null then $1 else due_at end
     from outage returning source_id
   )
   select from_at as "fromAt", (select count(*)::int from due) as sources from outage`,
);
const spells = sql(
  "outage.spells",
  `update reconciliation_schedules as s set trigger = 'rejections', due_at = $1
   where run_id is null and due_at > $1 and (
     select count(*) from (select from rejections as r
       where r.source_id = s.source_id and r.rejected_at > s.covered_to limit ${spellMin}) as few) >= ${spellMin}
   and not exists (select from rejections as r where r.source_id = s.source_id and r.rejected_at > $2)
   and not exists (select from reconciliations as c
     where c.source_id = s.source_id and c.trigger = 'rejections' and c.created_at > $3)`,
);
const list = sql(
  "outage.list",
  `select o.id, o.from_at as "fromAt", o.to_at as "toAt", o.created_at as "createdAt",
     coalesce(sum(r.missed), 0)::int as missed, coalesce(sum(r.recovered), 0)::int as recovered,
     count(*) filter (where r.status = 'running')::int as running
   from (select * from outages where exists (
       select from reconciliations as r where r.outage_id = outages.id and r.account_id = $1) and ${newestFirst(2)}) as o
   join reconciliations as r on r.outage_id = o.id and r.account_id = $1
   group by o.id, o.from_at, o.to_at, o.created_at order by o.created_at desc, o.id desc`,
);
const trim = sql("outage.trim", "delete from outages where created_at < $1");
const keptMs = seconds(90 * 24 * 3_600);

/** Gives a sign of life, and finds the outage before it: a gap in which no instance received webhooks. */
export async function giveSignOfLife({ pool, clock, log }: IngestService): Promise<void> {
  const now = clock.now();
  const values = [now, newId("out", now.getTime()), before(clock, gapMs)];
  const [outage] = (await pool.query<{ fromAt: Date; sources: number }>(beat, values)).rows;
  if (!outage) return;
  const { fromAt, sources } = outage;
  log.warn({ fromAt, toAt: now, sources }, "no instance received webhooks for a time");
  await pool.query(trim, [before(clock, keptMs)]);
}

/** Makes sources due that refused webhooks for a while and have stopped. */
export const findRejectionSpells = async ({ pool, clock }: IngestService): Promise<void> =>
  void (await pool.query(spells, [clock.now(), before(clock, quietMs), before(clock, spellEveryMs)]));

/** Lists the outages in which sources of the account were compared, newest first. */
export const listOutages = async (db: Queryable, accountId: string, range: ListRange) =>
  (await db.query<Outage>(list, [accountId, ...rangeValues(range)])).rows;

const before = (clock: Clock, ms: number): Date => new Date(clock.nowMs() - ms);
