import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { zstdCompress, zstdDecompress } from "node:zlib";
import kafkajs, { type Admin, type EachMessagePayload } from "kafkajs";
import { decompressFrame } from "lz4-napi";
import type { LogRecord } from "../evidence.ts";
import { isGroupOfService, type LogReader, poisonHeader, poisonValue, recordOf, unreadTopics } from "./log-reader.ts";

const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = kafkajs;
const [zip, unzip] = [promisify(zstdCompress), promisify(zstdDecompress)];
const readMs = 60_000;

interface Position {
  readonly topic: string;
  readonly partition: number;
  /** The next offset to read, and the end offset when the reading started. */
  next: number;
  readonly end: number;
}

/** Reads Apache Kafka by kafkajs alone. */
export function createKafkaLog(brokers: readonly string[]): LogReader {
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: ({ buffer }: { buffer: Buffer }) => zip(buffer),
    decompress: (bytes: Buffer) => unzip(bytes),
  });
  CompressionCodecs[CompressionTypes.LZ4] = () => ({
    compress: () => Promise.reject(new Error("the brokers write LZ4, not the ledger")),
    decompress: (bytes: Buffer) => decompressFrame(bytes),
  });
  const kafka = new Kafka({ clientId: "ledger", brokers: [...brokers], logLevel: logLevel.NOTHING });
  const known = new Map<string, number>();
  return {
    async read() {
      const positions = await withAdmin(kafka, (admin) => findPositions(admin, known));
      const records = await readUpTo(kafka, positions);
      for (const { topic, partition, next } of positions) known.set(`${topic} ${partition}`, next);
      return records;
    },
    lag: () => withAdmin(kafka, lagOf),
    async poison() {
      const topics = (await withAdmin(kafka, (admin) => admin.listTopics())).filter(
        (name) => name.startsWith("signalbox.") && !unreadTopics.has(name),
      );
      const producer = kafka.producer();
      await producer.connect();
      const message = { key: "poison", value: poisonValue, headers: { [poisonHeader]: "1" }, partition: 0 };
      await producer.sendBatch({ topicMessages: topics.map((topic) => ({ topic, messages: [message] })) });
      await producer.disconnect();
    },
    async recreate(topics) {
      await withAdmin(kafka, async (admin) => {
        for (const topic of topics) await recreateTopic(admin, topic);
      });
      for (const place of known.keys()) if (topics.includes(place.split(" ")[0] as string)) known.delete(place);
    },
    reset: () => known.clear(),
  };
}

/** The dead letter of a bomb has no headers of it: nobody could read them. */
const isOfBomb = (headers: Readonly<Record<string, string>>): boolean =>
  headers["dead-letter-reason"]?.includes("decompressed it has more than") ?? false;

export async function withAdmin<T>(kafka: InstanceType<typeof Kafka>, ask: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    return await ask(admin);
  } finally {
    await admin.disconnect();
  }
}

async function recreateTopic(admin: Admin, topic: string): Promise<void> {
  const [described] = (await admin.fetchTopicMetadata({ topics: [topic] })).topics;
  const configEntries = await ownSettings(admin, topic);
  await admin.deleteTopics({ topics: [topic] });
  while ((await admin.listTopics()).includes(topic)) await sleep(50);
  const numPartitions = described?.partitions.length ?? 1;
  const replicationFactor = described?.partitions[0]?.replicas.length ?? 1;
  await admin.createTopics({
    topics: [{ topic, numPartitions, replicationFactor, configEntries }],
    waitForLeaders: true,
  });
}

/** Returns the settings of the topic itself, without those of its brokers. */
export async function ownSettings(admin: Admin, topic: string): Promise<{ name: string; value: string }[]> {
  const resources = [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }];
  const [described] = (await admin.describeConfigs({ resources, includeSynonyms: false })).resources;
  return (described?.configEntries ?? [])
    .filter(({ configSource }) => configSource === kafkajs.ConfigSource.TOPIC_CONFIG)
    .map(({ configName, configValue }) => ({ name: configName, value: configValue }));
}

async function lagOf(admin: Admin): Promise<number> {
  const { groups } = await admin.listGroups();
  let lag = 0;
  for (const { groupId } of groups.filter((group) => isGroupOfService(group.groupId))) {
    for (const { topic, partitions } of await admin.fetchOffsets({ groupId })) {
      const ends = new Map((await offsetsOf(admin, topic)).map(({ partition, high }) => [partition, Number(high)]));
      // -1 when the group has committed nothing.
      for (const { partition, offset } of partitions.filter((one) => Number(one.offset) >= 0)) {
        lag += (ends.get(partition) ?? 0) - Number(offset);
      }
    }
  }
  return lag;
}

async function findPositions(admin: Admin, known: Map<string, number>): Promise<Position[]> {
  const topics = (await admin.listTopics()).filter((name) => name.startsWith("signalbox.") && !unreadTopics.has(name));
  const positions: Position[] = [];
  // One after another: kafkajs mixes up the answers to concurrent requests.
  for (const topic of topics) {
    for (const { partition, low, high } of await offsetsOf(admin, topic)) {
      const next = Math.max(known.get(`${topic} ${partition}`) ?? 0, Number(low));
      positions.push({ topic, partition, next, end: Number(high) });
    }
  }
  return positions;
}

/** Repeated while partitions have no leader: kafkajs then fails, or omits them. */
async function offsetsOf(admin: Admin, topic: string) {
  const [described] = (await admin.fetchTopicMetadata({ topics: [topic] })).topics;
  for (let attempt = 1; ; attempt++) {
    const offsets = await admin.fetchTopicOffsets(topic).catch(() => []);
    if (offsets.length === described?.partitions.length) return offsets;
    if (attempt === 40) throw new Error(`${topic} has partitions without a leader`);
    await sleep(500);
  }
}

async function readUpTo(kafka: InstanceType<typeof Kafka>, positions: readonly Position[]): Promise<LogRecord[]> {
  const open = positions.filter(({ next, end }) => next < end);
  if (open.length === 0) return [];
  const places = new Map(open.map((position) => [`${position.topic} ${position.partition}`, position]));
  const records: LogRecord[] = [];
  const done = Promise.withResolvers<void>();
  const consumer = kafka.consumer({ groupId: `ledger-${crypto.randomUUID()}` });
  const take = async ({ topic, partition, message }: EachMessagePayload) => {
    const place = places.get(`${topic} ${partition}`);
    const offset = Number(message.offset);
    if (!place || offset < place.next || offset >= place.end) return;
    place.next = offset + 1;
    const headers = Object.fromEntries(
      Object.entries(message.headers ?? {}).map(([name, value]) => [name, `${value}`]),
    );
    if (!(poisonHeader in headers) && !isOfBomb(headers))
      records.push(recordOf({ topic, partition, offset, key: message.key, value: message.value, headers }));
    if (open.every(({ next, end }) => next >= end)) done.resolve();
  };
  await consumer.connect();
  const timer = setTimeout(() => done.reject(new Error("the log is not read to its end")), readMs);
  try {
    await consumer.subscribe({ topics: [...new Set(open.map(({ topic }) => topic))], fromBeginning: true });
    await consumer.run({ autoCommit: false, eachMessage: take });
    for (const { topic, partition, next } of open) consumer.seek({ topic, partition, offset: String(next) });
    await done.promise;
  } finally {
    clearTimeout(timer);
    await consumer.disconnect();
  }
  return records.sort((a, b) => a.topic.localeCompare(b.topic) || a.partition - b.partition || a.offset - b.offset);
}
