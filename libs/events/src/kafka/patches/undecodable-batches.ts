import { createRequire } from "node:module";
import { MiB, seconds } from "@signalbox/core";
import type { KafkaMessage } from "kafkajs";
import type { TopicPartition, UndecodableBatch } from "../../log/event-log.ts";
import { BatchTooLarge, decodedBytesMax } from "../codecs/codecs.ts";

type Undecodable = Pick<UndecodableBatch, "firstOffset" | "lastOffset" | "reason"> & { readonly bytes: Buffer };
/** Returns true to have the batch passed on as one message that nobody can read, instead of halting its partition. */
type Listener = (batch: UndecodableBatch) => boolean;

interface Decoder {
  readInt32(): number;
  canReadBytes(bytes: number): boolean;
  readBytes(bytes: number): Buffer;
}

/** The messages of a partition, and the batch behind them that ended the decoding. */
type Messages = KafkaMessage[] & { [undecodable]?: Undecodable };

interface Batch extends TopicPartition {
  rawMessages: Messages;
  messagesWithinOffset: readonly KafkaMessage[];
  messages: readonly KafkaMessage[];
}

interface ConsumerGroup {
  readonly memberId: string | null;
  fetch(nodeId: string): Promise<readonly Batch[]>;
  pause(places: readonly { topic: string; partitions: readonly number[] }[]): void;
  resume(places: readonly { topic: string; partitions: readonly number[] }[]): void;
}

const undecodable = Symbol("the batch that cannot be decoded");
const unreadable = Symbol("why the batch in place of this message cannot be read");

/** Most records of one batch: small ones take far more memory as objects than as bytes. */
const recordsMax = 100_000;
/** Memory that a record takes beside its bytes, roughly. */
const recordBytes = 256;
/** Bound of all that one answer is decoded to. What is left over comes with the next one. */
const answerBytesMax = 32 * MiB;
/** Bytes that are kept of a batch that is too large: a dead letter must fit its topic. */
const keptBytesMax = MiB;
/** Interval after which a halted partition is tried again: an operator may have skipped the batch. */
const haltMs = seconds(5);

const load = createRequire(import.meta.url);
const decodeBatch: (decoder: Decoder) => Promise<{ records: KafkaMessage[] }> = load(
  "kafkajs/src/protocol/recordBatch/v0/decoder.js",
);
const DecoderOf: new (bytes: Buffer) => Decoder = load("kafkajs/src/protocol/decoder.js");
const messagesPath = load.resolve("kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js");
const decodeOthers: (decoder: Decoder) => Promise<KafkaMessage[]> = load(messagesPath);
const group: ConsumerGroup = load("kafkajs/src/consumer/consumerGroup.js").prototype;
const { fetch } = group;

const listeners = new Map<string, Listener>();
/** Room that is left in the answer that a decoder reads. */
const roomOf = new WeakMap<Decoder, number>();

/** Calls the listener whenever a member meets a batch that cannot be decoded, for as long as it is there. */
export function onUndecodable(memberId: string, listener: Listener): () => void {
  listeners.set(memberId, listener);
  return () => void listeners.delete(memberId);
}

/** Returns the reason why a message stands in for a batch that was too large to read, if it does. */
export const unreadableReason = (message: KafkaMessage): string | undefined =>
  (message as { [unreadable]?: string })[unreadable];

/**
 * Fault: a batch that cannot be decoded (an unknown codec, damage, a bomb) rejects the whole answer of its broker and
 * ends the consumer. Here a batch that is too large becomes one message with its compressed bytes, which nobody can
 * read; any other one halts its own partition until it can be decoded, has expired or is skipped.
 * Seen in kafkajs 2.2.4. Upstream: tulios/kafkajs#1475, tulios/kafkajs#1141.
 */
// The answers of a fetch load the function when the first one is read.
(load.cache[messagesPath] as NodeJS.Module).exports = decodeWhatIsReadable;

group.fetch = async function fetchWhatIsReadable(this: ConsumerGroup, nodeId) {
  const batches = await fetch.call(this, nodeId);
  return batches.filter((batch) => {
    const found = batch.rawMessages[undecodable];
    if (!found || batch.messagesWithinOffset.length > 0) return true;
    const { topic, partition } = batch;
    const { bytes, ...where } = found;
    if (listeners.get(this.memberId ?? "")?.({ topic, partition, ...where })) {
      batch.rawMessages = [standIn(bytes, found)];
      batch.messagesWithinOffset = batch.rawMessages;
      batch.messages = batch.rawMessages;
      return true;
    }
    const place = [{ topic, partitions: [partition] }];
    this.pause(place); // the broker would answer at once, again and again
    setTimeout(() => this.resume(place), haltMs).unref();
    return false;
  });
};

async function decodeWhatIsReadable(decoder: Decoder): Promise<Messages> {
  const size = decoder.readInt32();
  if (size <= 0 || !decoder.canReadBytes(size)) return [];
  const bytes = decoder.readBytes(size);
  const messages: Messages = [];
  let room = roomOf.get(decoder) ?? answerBytesMax;
  for (const batch of room > 0 ? batchesIn(bytes) : []) {
    try {
      const records = await recordsOf(batch);
      for (const record of records) messages.push(record);
      room -= records.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0) + recordBytes, 0);
    } catch (error) {
      const found = describe(batch, error as Error);
      room -= decodedBytesMax;
      if (error instanceof BatchTooLarge && isOfMagic(batch)) messages.push(standIn(batch, found));
      else messages[undecodable] = found;
    }
    if (room <= 0 || messages[undecodable]) break;
  }
  roomOf.set(decoder, room);
  return messages;
}

/** Offsets of the fields of a batch (message format 2). */
const at = { length: 8, magic: 16, attributes: 21, lastDelta: 23, maxTime: 35, producer: 43, count: 57, records: 61 };
const lengthEnd = at.length + 4;
const magic = 2;

/** Splits the bytes of a partition into batches. The broker cuts the last one where its bound is reached. */
function* batchesIn(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start + at.attributes <= bytes.length; ) {
    const length = bytes.readInt32BE(start + at.length);
    const end = start + lengthEnd + length;
    if (end > bytes.length) return;
    yield bytes.subarray(start, length > 0 ? end : undefined);
    if (length <= 0) return;
    start = end;
  }
}

async function recordsOf(batch: Buffer): Promise<KafkaMessage[]> {
  if (batch.readInt8(at.magic) !== magic) return await decodeOthers(sized(batch));
  const codec = batch.readInt16BE(at.attributes) & 7;
  if (codec > 4) throw new Error(`its codec ${codec} is unknown`);
  const count = batch.readInt32BE(at.count);
  if (count > recordsMax) throw new BatchTooLarge(`it has ${count} records`);
  return (await decodeBatch(new DecoderOf(batch))).records;
}

function sized(batch: Buffer): Decoder {
  const size = Buffer.alloc(4);
  size.writeInt32BE(batch.length);
  return new DecoderOf(Buffer.concat([size, batch]));
}

function describe(batch: Buffer, { message }: Error): Undecodable {
  const firstOffset = batch.readBigInt64BE(0);
  const lastOffset = firstOffset + BigInt(isOfMagic(batch) ? batch.readInt32BE(at.lastDelta) : 0);
  const reason = `the batch of offsets ${firstOffset} to ${lastOffset} cannot be decoded: ${message}`;
  return { firstOffset, lastOffset, reason, bytes: batch };
}

const isOfMagic = (batch: Buffer): boolean => batch.length >= at.records && batch.readInt8(at.magic) === magic;

/** Creates the message in place of a batch that is too large. It is unreadable for its consumers, and a dead letter. */
function standIn(batch: Buffer, { lastOffset, reason }: Undecodable): KafkaMessage {
  const message = {
    magicByte: magic,
    attributes: 0,
    timestamp: String(isOfMagic(batch) ? batch.readBigInt64BE(at.maxTime) : 0),
    offset: String(lastOffset),
    key: null,
    value: batch.subarray(0, keptBytesMax),
    headers: {},
    isControlRecord: false,
    batchContext: isOfMagic(batch) ? contextOf(batch) : {},
    [unreadable]: reason,
  };
  return message as unknown as KafkaMessage;
}

/** Tells which transaction a batch belongs to: an aborted one is left out. */
const contextOf = (batch: Buffer) => ({
  producerId: String(batch.readBigInt64BE(at.producer)),
  inTransaction: (batch.readInt16BE(at.attributes) & 0x10) !== 0,
});
