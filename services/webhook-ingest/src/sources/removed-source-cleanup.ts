import { seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import { type Pool, sql } from "@signalbox/storage";

interface Dependencies {
  readonly runner: Pick<Runner, "every">;
  readonly pool: Pick<Pool, "query">;
}

const batch = 5_000;
const everyMs = seconds(5);

const findRemoved = sql("source.find-removed", "select id from removed_sources order by removed_at limit 1");
/** One source at a time, in any one instance. The marker is deleted with the source's last row. */
const forget = sql(
  "source.forget-removed",
  `with source as (
     select id from removed_sources where id = $1 for update skip locked
   ), deliveries as (
     delete from received_deliveries as d using (
       select source_id, received_at, id from received_deliveries where source_id = (select id from source) limit ${batch}) as old
     where d.source_id = old.source_id and d.received_at = old.received_at and d.id = old.id returning 1
   ), keys as (
     delete from received_keys where ctid = any (array(
       select ctid from received_keys where source_id = (select id from source) limit ${batch})) returning 1
   ), counted as (
     select (select count(*) from deliveries) as deliveries, (select count(*) from keys) as keys
   ), done as (
     delete from removed_sources using source, counted
     where removed_sources.id = source.id and counted.deliveries < ${batch} and counted.keys < ${batch} returning 1
   )
   select (deliveries + keys + (select count(*) from done))::int as gone from counted`,
);

/**
 * Starts the job that deletes the received webhooks of removed sources, a few thousand rows per statement. The sources
 * themselves are gone at once.
 */
export function startRemovedSourceCleanup({ runner, pool }: Dependencies): void {
  runner.every("removed sources", everyMs, async () => {
    const [removed] = (await pool.query<{ id: string }>(findRemoved)).rows;
    if (removed === undefined) return "done";
    const { rows } = await pool.query<{ gone: number }>(forget, [removed.id]);
    return rows[0]?.gone === 0 ? "done" : "again";
  });
}
