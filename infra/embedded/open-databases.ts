import { join } from "node:path";
import { hours, minutes, seconds } from "@signalbox/core";
import type { Logger, Metrics, ProcessRunner } from "@signalbox/runtime";
import { migrate, openPool, sql } from "@signalbox/storage";
import { startPostgres } from "../engines/postgres/start-postgres.ts";
import { eventsDatabase } from "./embedded-defaults.ts";

interface OpenDatabases {
  /** A server that is run by others; null starts one in the data folder. */
  readonly url: string | null;
  readonly dataDirectory: string;
  readonly runner: ProcessRunner;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly tell: (step: string) => void;
}

/** A database server that is killed is started again; this is how long its ports stay silent meanwhile. */
const reviveEveryMs = 500;

/** Gives the PostgreSQL of every service: the one that is named, once it answers, or one that is started here. */
export async function openDatabases(options: OpenDatabases): Promise<(database: string) => string> {
  const { url, dataDirectory, runner, log, metrics, tell } = options;
  if (url !== null) {
    const urlOf = (database: string) => Object.assign(new URL(url), { pathname: `/${database}` }).href;
    tell(`on the database at ${new URL(url).host}`);
    await migrate({
      url: urlOf(eventsDatabase),
      service: "event-log",
      prismaDirectory: null,
      libraryMigrations: [],
      log,
    });
    return urlOf;
  }
  tell(`the database in ${dataDirectory}`);
  const postgres = await startPostgres({ folder: join(dataDirectory, "postgres"), durable: true });
  // Its last checkpoint syncs all files of databases that were just made, on a busy disk for more than ten seconds.
  runner.defer("postgres", () => postgres.stop(), { withinMs: seconds(30) });
  runner.onEndAtOnce(() => postgres.stopAtOnce());
  runner.every("postgres", reviveEveryMs, async () => {
    if (await postgres.revive()) log.warn({ pid: postgres.pid }, "the database had ended and was started again");
  });
  runner.housekeeping("postgres checkpoint", hours(1), () => checkpoint(postgres.url("postgres"), { log, metrics }));
  return (database) => postgres.url(database);
}

/** Syncs the thousands of files that a first start makes, so that a stop soon after it need not wait for them. */
async function checkpoint(url: string, parts: { log: Logger; metrics: Metrics }): Promise<void> {
  const options = { ...parts, url, max: 1, applicationName: "signalbox-checkpoint", runner: { defer: () => {} } };
  const pool = openPool({ ...options, statementTimeoutMs: minutes(5) });
  try {
    await pool.query(sql("", "checkpoint"));
  } finally {
    await pool.close();
  }
}
