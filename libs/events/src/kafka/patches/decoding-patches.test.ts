import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { MiB, seconds } from "@signalbox/core";
import type { KafkaMessage } from "kafkajs";
import type { UndecodableBatch } from "../../log/event-log.ts";
import { toReceivedRecord } from "../kafkajs.ts";
import { onUndecodable } from "./undecodable-batches.ts";

const load = createRequire(import.meta.url);
const { decode } = load("kafkajs/src/protocol/requests/fetch/v11/response.js");
const ConsumerGroup = load("kafkajs/src/consumer/consumerGroup.js");

/** Three records in a batch, as the producer of kafka-clients 4.3.1 wrote them with each codec. */
const writtenByJava: Readonly<Record<string, string>> = {
  none: "AAAAAAAAAAAAAAMlAAAAAALl4MZsAAAAAAACAAABi8/laAAAAAGLz+VoAgAAAAAAAAAAAAAAAAAAAAAAA/QDAAAACmtleS0wqgN7InRpdGxlIjoic2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCAwIn0CDmNlX3R5cGUgaW1hZ2UudXBkYXRlZC52MfQDAAICCmtleS0xqgN7InRpdGxlIjoic2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCAxIn0CDmNlX3R5cGUgaW1hZ2UudXBkYXRlZC52MfQDAAQECmtleS0yqgN7InRpdGxlIjoic2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCBzaWduYWxib3ggc2lnbmFsYm94IHNpZ25hbGJveCAyIn0CDmNlX3R5cGUgaW1hZ2UudXBkYXRlZC52MQ==",
  gzip: "AAAAAAAAAAAAAACgAAAAAALUODFsAAEAAAACAAABi8/laAAAAAGLz+VoAgAAAAAAAAABAAAAAAAAAAAAAx+LCAAAAAAAAP/7wszAwMCVnVqpa7CKuVqpJLMkJ1XJSqk4Mz0vMScpv0JhaLMMlGqZ+JJT40sqC1IVMnMT01P1SgtSEktSU/TKDL8wMzAxgf1uOBz9bkjA7ywsYL8bDUe/G+HzOwB5ozmY9AIAAA==",
  snappy:
    "AAAAAAAAAAAAAADDAAAAAAJ1NTl+AAIAAAACAAABi8/laAAAAAGLz+VoAgAAAAAAAAACAAAAAAAAAAAAA4JTTkFQUFkAAAAAAQAAAAEAAAB+9AWA9AMAAAAKa2V5LTCqA3sidGl0bGUiOiJzaWduYWxib3gg/goA/goA9goAiDAifQIOY2VfdHlwZSBpbWFnZS51cGRhdGVkLnYx9AMAAgIKAfwAMf78AP78AP78AE78AAAxevwABAQEJfgAMv78AP78AP78AE78AAAybvwA",
  lz4: "AAAAAAAAAAAAAACrAAAAAAKzagkdAAMAAAACAAABi8/laAAAAAGLz+VoAgAAAAAAAAADAAAAAAAAAAAAAwQiTRhgQIJrAAAA/xL0AwAAAAprZXktMKoDeyJ0aXRsZSI6InNpZ25hbGJveCAKAKvxEzAifQIOY2VfdHlwZSBpbWFnZS51cGRhdGVkLnYx9AMAAgL8AB8x/ADBHzH8AAwhBAT8AB8y/ADBHzL8AARQZWQudjEAAAAA",
  zstd: "AAAAAAAAAAAAAACcAAAAAAI4t9crAAQAAAACAAABi8/laAAAAAGLz+VoAgAAAAAAAAAEAAAAAAAAAAAAAyi1L/0AWPwCAJQE9AMAAAAKa2V5LTCqA3sidGl0bGUiOiJzaWduYWxib3ggMCJ9Ag5jZV90eXBlIGltYWdlLnVwZGF0ZWQudjH0AwACAjExBAQyMgcAgJEooAtaBA2LAgn9TfuyK1WeAQAA",
};
const batchIn = (codec: string) => Buffer.from(writtenByJava[codec] as string, "base64");

/** Changes a batch in place: its first offset, or a byte. */
function changed(batch: Buffer, { offset = 0, at, byte = 0 }: { offset?: number; at?: number; byte?: number }): Buffer {
  const copy = Buffer.from(batch);
  copy.writeBigInt64BE(BigInt(offset), 0);
  if (at !== undefined) copy.writeUInt8(byte, at);
  return copy;
}

/** Wraps compressed records into a batch of so many records at this offset. */
function zstdBatch(records: Buffer, { offset, count }: { offset: number; count: number }): Buffer {
  const head = Buffer.from(batchIn("zstd").subarray(0, 61));
  head.writeBigInt64BE(BigInt(offset), 0);
  head.writeInt32BE(61 - 12 + records.length, 8);
  head.writeInt32BE(count - 1, 23);
  head.writeInt32BE(count, 57);
  return Buffer.concat([head, records]);
}

/** Encodes the answer to a fetch: the bytes of partitions of the topic "t", counted from 0. */
function answer(partitions: readonly (readonly Buffer[])[]): Buffer {
  const int = (bytes: 2 | 4, value: number) => {
    const buffer = Buffer.alloc(bytes);
    buffer.writeIntBE(value, 0, bytes);
    return buffer;
  };
  const none = Buffer.alloc(4);
  const encoded = partitions.flatMap((batches, partition) => {
    const bytes = Buffer.concat(batches);
    const offsets = Buffer.alloc(24);
    return [int(4, partition), int(2, 0), offsets, none, int(4, -1), int(4, bytes.length), bytes];
  });
  const topic = [int(2, 1), Buffer.from("t")];
  return Buffer.concat([none, int(2, 0), none, int(4, 1), ...topic, int(4, partitions.length), ...encoded]);
}

async function messagesIn(...partitions: readonly (readonly Buffer[])[]): Promise<KafkaMessage[][]> {
  const { responses } = await decode(answer(partitions));
  return responses[0].partitions.map(({ messages }: { messages: KafkaMessage[] }) => messages);
}
const offsetsOf = (messages: readonly KafkaMessage[] = []) => messages.map(({ offset }) => Number(offset));

for (const codec of Object.keys(writtenByJava)) {
  test(`a batch of kafka-clients is read, compressed with ${codec}`, async () => {
    const [messages = []] = await messagesIn([batchIn(codec)]);
    const records = messages.map((message) => toReceivedRecord("t", 0, message));
    assert.deepEqual(
      records.map(({ key, offset, timestampMs, headers }) => [key, Number(offset), timestampMs, headers.ce_type]),
      [0, 1, 2].map((index) => [`key-${index}`, index, 1_700_000_000_000 + index, "image.updated.v1"]),
    );
    assert.equal(String(records[2]?.value), `{"title":"${"signalbox ".repeat(20)}2"}`);
  });
}

const whole = batchIn("lz4");
const unknownCodec = changed(batchIn("zstd"), { offset: 3, at: 22, byte: 7 });
const damaged = changed(batchIn("zstd"), { offset: 3, at: 61, byte: 0 });

test("partitions beside one with an undecodable batch are read", async () => {
  assert.deepEqual((await messagesIn([unknownCodec], [whole])).map(offsetsOf), [[], [0, 1, 2]]);
});

test("batches in front of an undecodable one are read", async () => {
  assert.deepEqual((await messagesIn([whole, damaged, whole])).map(offsetsOf), [[0, 1, 2]]);
});

test("a batch that is too large is read as one message with the reason", async () => {
  const bomb = zstdBatch(zstdCompressSync(Buffer.alloc(64 * MiB)), { offset: 3, count: 5 });
  const [messages = []] = await messagesIn([whole, bomb, changed(whole, { offset: 8 })]);
  assert.deepEqual(offsetsOf(messages), [0, 1, 2, 7, 8, 9, 10]);
  const record = toReceivedRecord("t", 0, messages[3] as KafkaMessage);
  assert.match(
    record.unreadable ?? "",
    /offsets 3 to 7 cannot be decoded: decompressed it has more than 16777216 bytes/,
  );
  assert.ok(bomb.equals(record.value as Buffer));
});

test("a batch with more records than memory allows is read as one message", async () => {
  const tiny = Buffer.from([12, 0, 0, 0, 1, 1, 0]);
  const many = zstdBatch(zstdCompressSync(Buffer.concat(Array(200_000).fill(tiny))), { offset: 0, count: 200_000 });
  assert.deepEqual((await messagesIn([many])).map(offsetsOf), [[199_999]]);
});

test("what exceeds the decoding bound of an answer comes with the next one", async () => {
  const record = Buffer.concat([Buffer.from([0, 0, 0, 1]), varint(6 * MiB), Buffer.alloc(6 * MiB), Buffer.from([0])]);
  const large = zstdBatch(zstdCompressSync(Buffer.concat([varint(record.length), record])), { offset: 0, count: 1 });
  const [first, second] = await messagesIn(Array(10).fill(large), [whole]);
  assert.deepEqual([first?.length, second?.length], [6, 0]);
});

/** Encodes a number as the signed varint of Kafka. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value * 2; ; left = Math.floor(left / 128)) {
    if (left < 128) return Buffer.from([...bytes, left]);
    bytes.push((left % 128) + 128);
  }
}

/** Creates a member that has one partition, whose next offset is 3 and whose leader answers with these batches. */
function member(batches: readonly Buffer[]) {
  const calls: string[] = [];
  const made = Object.assign(Object.create(ConsumerGroup.prototype), {
    memberId: "member",
    topics: ["t"],
    topicsSubscribed: ["t"],
    preferredReadReplicasPerTopicPartition: {},
    seekOffset: { has: () => false },
    subscriptionState: { assigned: () => [{ topic: "t", partitions: [0] }], isPaused: () => false },
    getActiveTopicPartitions: () => ({ t: new Set([0]) }),
    seekOffsets: async () => {},
    pause: () => calls.push("pause"),
    resume: () => calls.push("resume"),
    offsetManager: { committedOffsets: () => ({ t: { 0: "3" } }), nextOffset: () => "3" },
    cluster: {
      refreshMetadataIfNecessary: async () => {},
      findTopicPartitionMetadata: () => [{ partitionId: 0, leader: 1 }],
      findBroker: async () => ({ fetch: () => decode(answer([batches])) }),
    },
  });
  return { made, calls };
}

test("a member reports the undecodable batch at which it pauses its partition", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { made, calls } = member([whole, unknownCodec]);
  const met: UndecodableBatch[] = [];
  context.after(
    onUndecodable("member", (batch) => {
      met.push(batch);
      return false;
    }),
  );
  assert.deepEqual(await made.fetch("1"), []);
  assert.deepEqual(calls, ["pause"]);
  const reason = "the batch of offsets 3 to 5 cannot be decoded: its codec 7 is unknown";
  assert.deepEqual(met, [{ topic: "t", partition: 0, firstOffset: 3n, lastOffset: 5n, reason }]);
  context.mock.timers.tick(seconds(5));
  assert.deepEqual(calls, ["pause", "resume"], "it tries again");
});

test("a skipped batch is passed on as one message", async (context) => {
  const { made, calls } = member([whole, unknownCodec]);
  context.after(onUndecodable("member", () => true));
  const [batch] = await made.fetch("1");
  assert.deepEqual([offsetsOf(batch.messages), batch.lastOffset(), calls], [[5], "5", []]);
});
