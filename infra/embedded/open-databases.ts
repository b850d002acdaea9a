import { join } from "node:path";
import { seconds } from "@signalbox/core";
import type { Logger, ProcessRunner } from "@signalbox/runtime";
import { migrate } from "@signalbox/storage";
import { startPostgres } from "../engines/postgres/start-postgres.ts";
import { eventsDatabase } from "./embedded-defaults.ts";

interface OpenDatabases {
  /** A server that is run by others; null starts one in the data folder. */
  readonly url: string | null;
  readonly dataDirectory: string;
  readonly runner: ProcessRunner;
  readonly log: Logger;
  readonly tell: (step: string) => void;
}

/** A database server that is killed is started again; this is how long its ports stay silent meanwhile. */
const reviveEveryMs = 500;

/** Gives the PostgreSQL of every service: the one that is named, once it answers, or one that is started here. */
export async function openDatabases(options: OpenDatabases): Promise<(database: string) => string> {
  const { url, dataDirectory, runner, log, tell } = options;
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
  // Its last checkpoint soon after a first start syncs thousands of files, on a busy disk for more than ten seconds.
  runner.defer("postgres", () => postgres.stop(), { withinMs: seconds(30) });
  runner.onEndAtOnce(() => postgres.stopAtOnce());
  runner.every("postgres", reviveEveryMs, async () => {
    if (await postgres.revive()) log.warn({ pid: postgres.pid }, "the database had ended and was started again");
  });
  return (database) => postgres.url(database);
}
