import { inTransaction, type Pool, sql } from "@signalbox/storage";
import { type RewindTarget, refuseLiving, unknownGroup } from "../rewind-target.ts";

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
