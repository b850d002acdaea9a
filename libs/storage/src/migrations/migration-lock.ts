import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@signalbox/runtime";
import type pg from "pg";
import { MigrationError } from "./migration-history.ts";

interface MigrationLock {
  readonly client: pg.Client;
  readonly database: string;
  readonly log: Logger;
  readonly waitMs: number;
}

/** The key that `prisma migrate` locks as well: ours and Prisma's never run at the same time. */
const lockKey = 72_707_369;
const pauseMs = 250;
/** One line every 5 s, the first after 1 s: parallel starts wait only a moment, which is not worth a line. */
const pausesBetweenLines = 20;
const pausesBeforeFirstLine = 4;

/** Takes the lock of migrations for as long as the connection lives. Names the holder in the log while waiting. */
export async function takeMigrationLock({ client, database, log, waitMs }: MigrationLock): Promise<void> {
  const pauses = Math.ceil(waitMs / pauseMs);
  for (let pause = 0; ; pause++) {
    // Polled, because a waiting statement could not report the holder.
    const { rows } = await client.query("select pg_try_advisory_lock($1) as taken", [lockKey]);
    if (rows[0].taken) return;
    if (pause >= pauses) {
      const holder = await describeHolder(client);
      throw new MigrationError(
        `database ${database} has been locked for migration by another process for more than ${waitMs / 1000} s (${holder}): ` +
          "wait until it is done, or end it, or raise database.start-wait",
      );
    }
    if (pause % pausesBetweenLines === pausesBeforeFirstLine) {
      log.warn({ database, holder: await describeHolder(client) }, "waiting for the migration of another process");
    }
    await sleep(pauseMs);
  }
}

/** pg_locks splits the key: its lower half is `objid`, and `objsubid` 1 means that it is one number. */
const findHolder = `select pid, application_name as name, coalesce(host(client_addr), 'a local socket') as address,
    extract(epoch from clock_timestamp() - backend_start)::int as seconds
  from pg_locks join pg_stat_activity using (pid)
  where locktype = 'advisory' and granted and classid = 0 and objid = $1 and objsubid = 1
    and database = (select oid from pg_database where datname = current_database())`;

async function describeHolder(client: pg.Client): Promise<string> {
  const { rows } = await client.query(findHolder, [lockKey]);
  if (rows.length === 0) return "which has just ended";
  const { pid, name, address, seconds } = rows[0];
  return `"${name}" from ${address}, server process ${pid}, connected for ${seconds} s`;
}
