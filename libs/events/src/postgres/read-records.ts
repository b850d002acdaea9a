import { MiB } from "@signalbox/core";
import { type Pool, sql } from "@signalbox/storage";
import type { ReceivedRecord, TopicPartition } from "../event-log.ts";

interface RecordRow {
  readonly offset: bigint;
  readonly key: Buffer;
  readonly headers: string;
  readonly value: Buffer | null;
  readonly timestamp_ms: bigint;
}

const pageRows = 500;
const pageBytes = 4 * MiB;

/** `octet_length` reads the size of a large value without fetching it. */
const readPage = sql(
  "log.read-page",
  `select "offset", key, headers, value, timestamp_ms from (
     select *, row_number() over by_offset as place,
       sum(coalesce(octet_length(value), 0) + octet_length(headers)) over by_offset as total
     from (
       select * from signalbox.log_record where partition_id = $1 and "offset" >= $2 order by "offset" limit $3
     ) page window by_offset as (order by "offset")
   ) sized where place = 1 or total <= $4 order by "offset"`,
);

/** Reads the next records of a partition: at most 500 or 4 MiB, at least one if there is one. */
export async function readRecords(
  pool: Pool,
  partitionId: number,
  { topic, partition }: TopicPartition,
  from: bigint,
): Promise<ReceivedRecord[]> {
  const { rows } = await pool.query<RecordRow>(readPage, [partitionId, from, pageRows, pageBytes]);
  return rows.map((row) => ({
    topic,
    partition,
    offset: row.offset,
    key: row.key.toString(),
    headers: JSON.parse(row.headers),
    value: row.value,
    timestampMs: Number(row.timestamp_ms),
  }));
}
