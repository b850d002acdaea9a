import { minutes } from "@signalbox/core";
import type { Logger, Runner } from "@signalbox/runtime";
import { inTransaction, type Pool, sql } from "@signalbox/storage";
import { compactionLagMs } from "../log/topic-settings.ts";

const everyMs = minutes(1);
const recordsPerStep = 5_000;
const lockId = 4202;

const tryLock = sql("log.retention-lock", "select pg_try_advisory_xact_lock($1) as locked");

/** Deletes records beyond the retention of their topic, oldest first and in steps, so that no reader waits. */
const expire = sql(
  "log.expire",
  `with old as (
     select partition_id, "offset" from signalbox.log_topic
     join signalbox.log_partition on topic = name
     cross join lateral (
       select partition_id, "offset" from signalbox.log_record where partition_id = id
         and timestamp_ms < (extract(epoch from clock_timestamp()) * 1000)::bigint - retention_ms
         and "offset" < first_offset + $1 order by "offset"
     ) records
     where cleanup = 'delete'
   ), gone as (
     delete from signalbox.log_record using old
     where log_record.partition_id = old.partition_id and log_record."offset" = old."offset"
     returning log_record.partition_id, log_record."offset"
   )
   update signalbox.log_partition set first_offset = gone.last + 1
   from (select partition_id, max("offset") as last from gone group by 1) gone
   where id = gone.partition_id`,
);

/**
 * Keeps the newest record of each key, and everything younger than the lag; a tombstone is deleted too once readers
 * have had the retention to see it.
 */
const compact = sql(
  "log.compact",
  `delete from signalbox.log_record using (
     select partition_id, "offset", value is null as tombstone, timestamp_ms, retention_ms,
       row_number() over (partition by partition_id, key order by "offset" desc) as age
     from signalbox.log_topic join signalbox.log_partition on topic = name
     join signalbox.log_record on partition_id = id
     where cleanup = 'compact' and timestamp_ms < (extract(epoch from clock_timestamp()) * 1000)::bigint - $1
   ) ranked
   where log_record.partition_id = ranked.partition_id and log_record."offset" = ranked."offset"
     and (age > 1 or tombstone
       and ranked.timestamp_ms < (extract(epoch from clock_timestamp()) * 1000)::bigint - retention_ms)`,
);

/** Removes the records that the topics need not keep any more, once. Of several instances one works. */
export async function cleanLog(pool: Pool): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ locked: boolean }>(tryLock, [lockId]);
    if (!rows[0]?.locked) return;
    await tx.query(expire, [recordsPerStep]);
    await tx.query(compact, [compactionLagMs]);
  });
}

/** Starts the worker that bounds the size of the log. A failure does not end the process: the next run tries again. */
export function startLogRetention(runner: Runner, pool: Pool, log: Logger): void {
  runner.housekeeping("event log retention", everyMs, () =>
    cleanLog(pool).catch((error: unknown) => log.warn({ error }, "the event log could not be cleaned")),
  );
}
