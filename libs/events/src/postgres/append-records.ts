import { type Pool, sql } from "@signalbox/storage";
import { type LogRecord, UnknownTopic } from "../event-log.ts";
import { partitionOf } from "../partition-of.ts";
import { PublishError } from "../publish-error.ts";
import type { KnownTopic, TopicDirectory } from "./topic-directory.ts";

const append = sql("log.append", "select signalbox.log_append($1, $2, $3, $4, $5, $6)");

/** Appends the records in one transaction with one round trip. */
export async function appendRecords(pool: Pool, topics: TopicDirectory, records: readonly LogRecord[]): Promise<void> {
  try {
    const known = await topics.find(records.map(({ topic }) => topic));
    await pool.query(append, valuesOf(records, known));
  } catch (error) {
    throw toPublishError(error);
  }
}

function valuesOf(records: readonly LogRecord[], topics: ReadonlyMap<string, KnownTopic>): unknown[] {
  const partitionIds: number[] = [];
  const starts: number[] = [];
  const lengths = { keys: [] as number[], headers: [] as number[], values: [] as number[] };
  const content: Buffer[] = [];
  let start = 1; // PostgreSQL counts bytes from 1
  for (const { topic: name, key, headers, value } of records) {
    const topic = topics.get(name) as KnownTopic;
    const keyBytes = Buffer.from(key);
    const headerBytes = Buffer.from(JSON.stringify(headers));
    const recordBytes = keyBytes.length + headerBytes.length + (value?.length ?? 0);
    if (recordBytes > topic.maxMessageBytes) {
      const message = `the topic ${name} takes records of ${topic.maxMessageBytes} bytes, not ${recordBytes}`;
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
