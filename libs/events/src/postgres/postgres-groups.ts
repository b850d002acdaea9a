import { inTransaction, type Pool, sql } from "@signalbox/storage";
import {
  type GroupMember,
  type PartitionLag,
  type PartitionRange,
  type RewindTarget,
  refuseLiving,
  unknownGroup,
} from "../log/event-log.ts";
import type { TopicCache } from "./topic-cache.ts";

const names = sql("log.group-names", "select name from signalbox.log_group order by name");
const lockGroup = sql("log.lock-group-to-rewind", "select from signalbox.log_group where name = $1 for update");
const countLiving = sql(
  "log.count-living",
  "select count(*)::int as living from signalbox.log_member where group_name = $1 and expires_at >= clock_timestamp()",
);

/** The new epoch refuses commits of a member that was taken for dead and still works. */
const rewindLeases = sql(
  "log.rewind",
  `update signalbox.log_lease set owner = null, epoch = epoch + 1, committed = case $2
     when 'start' then first_offset
     when 'end' then next_offset
     else coalesce((select "offset" from signalbox.log_record
       where log_record.partition_id = id and timestamp_ms >= $3 order by "offset" limit 1), next_offset) end
   from signalbox.log_partition where id = partition_id and group_name = $1`,
);

/** Lists the groups of the log. */
export async function postgresGroups(pool: Pool): Promise<string[]> {
  return (await pool.query<{ name: string }>(names)).rows.map(({ name }) => name);
}

/** Sets the committed offsets of a group without members. @throws Error when it has some, or is unknown. */
export async function rewindPostgresGroup(pool: Pool, group: string, to: RewindTarget): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx.query(lockGroup, [group]); // a joining member waits for the lock and starts at the new offsets
    refuseLiving(group, (await tx.query<{ living: number }>(countLiving, [group])).rows[0]?.living ?? 0);
    const [place, timeMs] = to instanceof Date ? ["time", to.getTime()] : [to, 0];
    const { rowCount } = await tx.query(rewindLeases, [group, place, timeMs]);
    if (rowCount === 0) throw unknownGroup(group);
  });
}

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

const livingMembers = sql(
  "log.living-members",
  `select member, (select count(*)::int from signalbox.log_lease
     where log_lease.group_name = log_member.group_name and owner = member) as partitions
   from signalbox.log_member where group_name = $1 and expires_at >= clock_timestamp() order by member`,
);

/** Lists the living members of the group, with the number of their partitions. */
export async function postgresMembers(pool: Pool, group: string): Promise<GroupMember[]> {
  return (await pool.query<GroupMember>(livingMembers, [group])).rows;
}

const findRanges = sql(
  "log.ranges",
  `select topic, partition, first_offset as first, next_offset as end from signalbox.log_partition
   where topic = any ($1) order by topic, partition`,
);

/** Returns the current range of each partition of the topics. @throws UnknownTopic */
export async function postgresRanges(
  pool: Pool,
  directory: TopicCache,
  topics: readonly string[],
): Promise<PartitionRange[]> {
  await directory.find(topics);
  return (await pool.query<PartitionRange>(findRanges, [topics])).rows;
}
