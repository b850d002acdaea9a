import { MiB } from "@signalbox/core";
import { type Pool, sql } from "@signalbox/storage";
import {
  type LogRecord,
  PublishError,
  type ReceivedRecord,
  type TopicPartition,
  UnknownTopic,
} from "../log/event-log.ts";
import { partitionOf } from "../log/partition-of.ts";
import type { CachedTopic, TopicCache } from "./topic-cache.ts";

/** Appends nothing and returns no row when a partition is gone, with the topic that was deleted. */
const append = sql(
  "log.append",
  `select signalbox.log_append($1, $2, $3, $4, $5, $6)
   where (select count(*) from signalbox.log_partition where id = any ($1))
     = (select count(distinct coalesce(id, 0)) from unnest($1::integer[]) as id)`,
);

/** Appends the records in one transaction with one round trip. */
export async function appendRecords(pool: Pool, topics: TopicCache, records: readonly LogRecord[]): Promise<void> {
  try {
    const known = await topics.find(records.map(({ topic }) => topic));
    const { rowCount } = await pool.query(append, valuesOf(records, known));
    if (rowCount > 0) return;
    topics.forget();
    throw new Error("a topic was recreated in the meantime");
  } catch (error) {
    throw toPublishError(error);
  }
}

function valuesOf(records: readonly LogRecord[], topics: ReadonlyMap<string, CachedTopic>): unknown[] {
  const partitionIds: number[] = [];
  const starts: number[] = [];
  const lengths = { keys: [] as number[], headers: [] as number[], values: [] as number[] };
  const content: Buffer[] = [];
  let start = 1; // PostgreSQL counts bytes from 1
  for (const { topic: name, key, headers, value } of records) {
    const topic = topics.get(name) as CachedTopic;
    const keyBytes = Buffer.from(key);
    const headerBytes = Buffer.from(JSON.stringify(headers));
    const recordBytes = keyBytes.length + headerBytes.length + (value?.length ?? 0);
    if (recordBytes > topic.maxMessageBytes) {
      const message = `the topic ${name} accepts records of at most ${topic.maxMessageBytes} bytes, this one has ${recordBytes}`;
      throw new PublishError("too-large", message, { topic: name });
    }
    partitionIds.push(topic.partitionIds[partitionOf(key, topic.partitions)] as number);
    starts.push(start);
    lengths.keys.push(keyBytes.length);
    lengths.headers.push(headerBytes.length);
    lengths.values.push(value?.length ?? -1);
    content.push(keyBytes, headerBytes);
    if (value) content.push(value);
    start += recordBytes;
  }
  return [partitionIds, starts, lengths.keys, lengths.headers, lengths.values, Buffer.concat(content)];
}

function toPublishError(error: unknown): PublishError {
  if (error instanceof PublishError) return error;
  if (error instanceof UnknownTopic) return new PublishError("unknown-topic", error.message, { topic: error.topic });
  return new PublishError("unavailable", `the event log did not take the records: ${(error as Error).message}`, {
    cause: error,
  });
}

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
