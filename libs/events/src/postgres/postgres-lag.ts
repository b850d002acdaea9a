import { type Pool, sql } from "@signalbox/storage";
import type { PartitionLag, PartitionRange } from "../event-log.ts";
import type { TopicDirectory } from "./topic-directory.ts";

interface LagRow {
  readonly topic: string;
  readonly partition: number;
  readonly committed: bigint;
  readonly end: bigint;
  readonly seconds: number;
}

const lagOfGroup = sql(
  "log.lag",
  `select topic, partition, greatest(committed, first_offset) as committed, next_offset as end,
     coalesce((select extract(epoch from clock_timestamp())::float8 - timestamp_ms / 1000.0::float8
       from signalbox.log_record where partition_id = id and "offset" >= greatest(committed, first_offset)
       order by "offset" limit 1), 0) as seconds
   from signalbox.log_partition left join signalbox.log_lease on partition_id = id and group_name = $1
   where case when $2::text[] is null then group_name is not null else topic = any ($2) end order by topic, partition`,
);

/** Measures the lag of the group, for every partition of the topics. */
export async function postgresLag(pool: Pool, group: string, topics?: readonly string[]): Promise<PartitionLag[]> {
  const { rows } = await pool.query<LagRow>(lagOfGroup, [group, topics ?? null]);
  return rows.map((row) => ({ ...row, messages: Number(row.end - row.committed), seconds: Math.max(0, row.seconds) }));
}

const findRanges = sql(
  "log.ranges",
  `select topic, partition, first_offset as first, next_offset as end from signalbox.log_partition
   where topic = any ($1) order by topic, partition`,
);

/** Returns the current range of each partition of the topics. @throws UnknownTopic */
export async function postgresRanges(
  pool: Pool,
  directory: TopicDirectory,
  topics: readonly string[],
): Promise<PartitionRange[]> {
  await directory.find(topics);
  return (await pool.query<PartitionRange>(findRanges, [topics])).rows;
}
