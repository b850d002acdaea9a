import type { Row } from "../systems/database.ts";
import { isGroupOfService, type LogReader, poisonHeader, poisonValue, recordOf, unreadTopics } from "./log-reader.ts";

const pageSize = 5_000;

/** Reads the event log of one host by SQL. */
export function createPostgresLog(query: (statement: string, values: readonly unknown[]) => Promise<Row[]>): LogReader {
  let next: Record<string, number> = {};
  return {
    async read() {
      const records = [];
      for (;;) {
        const rows = await query(
          `select p.id, p.topic, p.partition, r."offset", r.key, r.value, r.headers
           from signalbox.log_partition p join signalbox.log_record r on r.partition_id = p.id
           where r."offset" >= coalesce(($1::jsonb ->> p.id::text)::bigint, 0) and p.topic <> all ($2)
           order by p.id, r."offset" limit ${pageSize}`,
          [JSON.stringify(next), [...unreadTopics]],
        );
        for (const { id, topic, partition, offset, key, value, headers } of rows) {
          next[id] = Number(offset) + 1;
          const parsed = JSON.parse(headers);
          if (poisonHeader in parsed) continue;
          records.push(recordOf({ topic, partition, offset: Number(offset), key, value, headers: parsed }));
        }
        if (rows.length < pageSize) return records;
      }
    },
    async lag() {
      const rows = await query(
        `select l.group_name as name, sum(p.next_offset - l.committed)::int as lag
         from signalbox.log_lease l join signalbox.log_partition p on p.id = l.partition_id
         where l.committed < p.next_offset group by 1`,
        [],
      );
      return rows.filter(({ name }) => isGroupOfService(name)).reduce((sum, { lag }) => sum + lag, 0);
    },
    async poison() {
      const headers = JSON.stringify({ [poisonHeader]: "1" });
      await query(
        `with place as (
           update signalbox.log_partition set next_offset = next_offset + 1
           where id in (select min(id) from signalbox.log_partition where topic <> all ($1) group by topic)
           returning id, next_offset - 1 as place)
         insert into signalbox.log_record (partition_id, "offset", key, headers, value, timestamp_ms)
         select id, place, 'poison'::bytea, $2, $3, (extract(epoch from now()) * 1000)::bigint from place`,
        [[...unreadTopics], headers, poisonValue],
      );
    },
    async recreate(topics) {
      const removed = await query(
        "delete from signalbox.log_partition where topic = any ($1) returning topic, partition",
        [topics],
      );
      await query(
        "insert into signalbox.log_partition (topic, partition) select * from unnest ($1::text[], $2::int[])",
        [removed.map(({ topic }) => topic), removed.map(({ partition }) => partition)],
      );
    },
    reset: () => {
      next = {};
    },
  };
}
