import { hours, seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import { keepStatistics } from "@signalbox/service";
import { atStart, createDayTables, sql, startRetention } from "@signalbox/storage";
import type { IngestService } from "./context/ingest-service.ts";
import { beatEveryMs, findRejectionSpells, giveSignOfLife } from "./reconciling/outages.ts";
import { reconcileStep } from "./reconciling/reconcile-step.ts";
import { publishStep } from "./replays/publish-step.ts";
import { retryStep } from "./replays/rejection-retries.ts";

/** Starts what repeats: replays, comparisons with senders' lists, the retention of received webhooks, and the clean-up of removed sources. */
export async function startWorkers(service: IngestService, runner: Runner): Promise<void> {
  const { pool, clock, configuration, log, replayEngine, retryEngine, sourceStatistics } = service;
  await startRetaining(service, runner);
  // Before the first comparison: the one that an outage asks for is then the one that reports what it missed.
  await atStart(() => giveSignOfLife(service), { waitMs: configuration.get("database.start-wait"), log });
  runner.every("replays", seconds(1), () => replayEngine.step((tx, replay) => publishStep(service, tx, replay)));
  runner.every("retries of rejections", seconds(1), () =>
    retryEngine.step((tx, retry) => retryStep(service, tx, retry)),
  );
  runner.every("removed sources", seconds(5), () => forgetRemoved(service));
  runner.every("signs of life", beatEveryMs, () => giveSignOfLife(service));
  runner.every("spells of rejections", seconds(10), () => findRejectionSpells(service));
  runner.every("reconciliation", seconds(0.5), () => reconcileStep(service));
  const { stored } = sourceStatistics;
  keepStatistics({ runner, pool, clock }, { step: stored.step, save: sourceStatistics.save });
}

/** Keeps the day tables of received webhooks, and deletes expired keys. */
async function startRetaining({ pool, clock, configuration, log }: IngestService, runner: Runner): Promise<void> {
  const keepMs = () => configuration.get("webhook-ingest.received.retention");
  const dayTables = createDayTables({ pool, clock, keepMs }, [{ name: "received_deliveries", column: "received_at" }]);
  // Before the first webhook: a row that finds no table for its day has to be moved later.
  await atStart(() => dayTables.keep(), { waitMs: configuration.get("database.start-wait"), log });
  runner.every("received days", hours(1), () => dayTables.keep());
  // Rarely: pages that the BRIN of the column has not summarized yet are read each time.
  const rule = { keepMs, unordered: true, batch, everyMs: hours(1) } as const;
  startRetention({ runner, pool, clock }, [
    { ...rule, name: "trim received keys", table: "received_keys", column: "received_at" },
    { ...rule, name: "trim repetitions", table: "received_repetitions", column: "repeated_at" },
  ]);
}

const batch = 5_000;

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

/** Deletes the statistics and webhooks of a removed source, a few thousand rows at a time. */
async function forgetRemoved({ pool, sourceStatistics }: IngestService): Promise<"again" | "done"> {
  const [removed] = (await pool.query<{ id: string }>(findRemoved)).rows;
  if (removed === undefined) return "done";
  if ((await sourceStatistics.stored.remove(removed.id)) === "again") return "again";
  const { rows } = await pool.query<{ gone: number }>(forget, [removed.id]);
  return rows[0]?.gone === 0 ? "done" : "again";
}
