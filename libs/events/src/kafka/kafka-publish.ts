import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, MiB } from "@signalbox/core";
import type { Admin, Producer, TopicMessages } from "kafkajs";
import { type LogRecord, type PartitionAtFault, PublishError } from "../log/event-log.ts";
import { partitionOf } from "../log/partition-of.ts";
import { isMoving, isUnreachable, LateAnswer, linksOf } from "./errors/kafka-errors.ts";
import { BreakableClient, type CreateClient, zstd } from "./kafkajs.ts";
import { noLeader } from "./patches/leaderless-partitions.ts";
import { partitionsTaken } from "./patches/partial-produce.ts";

/** Bound of one request before compression, so that a batch of one partition fits its topic. */
const requestBytesMax = MiB;
/** Ends before the relay's own timeout of 5 s, so that the relay learns which partitions are at fault. */
const timeoutMs = 4_300;
/** Retries of a partition that is new or just gets another leader, and the pause before each. */
const movesMax = 5;
const moveMs = 100;

/** A record with its partition, and the broker that leads the partition as far as known. */
interface Placed {
  readonly record: LogRecord;
  readonly place: PartitionAtFault;
  readonly leader: number;
}

/** Headers that point readers outside to the schema of a value, by the type of its event. */
type SchemaHeaders = ReadonlyMap<string, Readonly<Record<string, string>>>;

interface PublisherParts {
  readonly createClient: CreateClient;
  readonly admin: () => Promise<Admin>;
  readonly schemaHeaders: SchemaHeaders;
  readonly clock: Clock;
}

/**
 * Publishes to each leader separately, so that a broker that is away delays only the records of its own partitions.
 * Records that it took without acknowledging are on the log twice, and readers remove duplicates.
 */
export class KafkaPublisher {
  readonly #createClient: CreateClient;
  readonly #admin: () => Promise<Admin>;
  readonly #schemaHeaders: SchemaHeaders;
  readonly #clock: Clock;
  /** The leader of each partition, by topic. */
  readonly #leadersOf = new Map<string, readonly number[]>();
  #producer: BreakableProducer;

  constructor({ createClient, admin, schemaHeaders, clock }: PublisherParts) {
    this.#createClient = createClient;
    this.#admin = admin;
    this.#schemaHeaders = schemaHeaders;
    this.#clock = clock;
    this.#producer = new BreakableProducer(createClient);
  }

  async publish(records: readonly LogRecord[], signal?: AbortSignal): Promise<void> {
    const late = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
    const faults: Faults = new Map();
    try {
      for (const request of requestsOf(await this.#placesOf(records))) await this.#sendRequest(request, faults, late);
    } catch (error) {
      this.#leadersOf.clear();
      throw toPublishError(error);
    }
    const [first] = faults.values();
    if (!first) return;
    this.#leadersOf.clear(); // they may have moved
    const partitions = [...faults.values()].map(({ place }) => place);
    throw new PublishError("unavailable", messageOf(first.error), { partitions, cause: first.error });
  }

  close(): Promise<void> {
    return this.#producer.close();
  }

  /** Looks up the leaders before sending: kafkajs itself would retry for long and then name no topic. */
  async #placesOf(records: readonly LogRecord[]): Promise<Placed[]> {
    if (!records.every(({ topic }) => this.#leadersOf.has(topic))) {
      const { topics } = await (await this.#admin()).fetchTopicMetadata();
      for (const { name, partitions } of topics) this.#leadersOf.set(name, leadersIn(partitions));
    }
    const missing = records.find(({ topic }) => !this.#leadersOf.has(topic))?.topic;
    if (missing !== undefined) {
      throw new PublishError("unknown-topic", `the topic ${missing} does not exist`, { topic: missing });
    }
    return records.map((record) => {
      const leaders = this.#leadersOf.get(record.topic) as readonly number[];
      const partition = partitionOf(record.key, leaders.length);
      const place = { topic: record.topic, partition, partitions: leaders.length };
      return { record, place, leader: leaders[partition] ?? noLeader };
    });
  }

  /** Sends the records of healthy partitions, and notes those at fault. @throws PublishError for a refusal */
  async #sendRequest(request: readonly Placed[], faults: Faults, signal: AbortSignal): Promise<void> {
    const sendable = request.filter(({ place }) => !faults.has(nameOf(place)));
    const sent = [...Map.groupBy(sendable, ({ leader }) => leader)].map(async ([leader, placed]) => {
      if (leader === noLeader) noteFaults(placed, new Error("it has no leader"), faults);
      else await this.#sendToLeader(placed, faults, signal);
    });
    for (const end of await Promise.allSettled(sent)) if (end.status === "rejected") throw end.reason;
  }

  /**
   * Sends the records of one leader. Without an answer all of its partitions are at fault; an error in the answer is
   * that of one partition.
   */
  async #sendToLeader(placed: readonly Placed[], faults: Faults, signal: AbortSignal, moves = 0): Promise<void> {
    try {
      await this.#send(placed, signal);
    } catch (error) {
      const publishError = toPublishError(error);
      if (!publishError.retriable) throw publishError;
      const took = partitionsTaken(error);
      const left = placed.filter(({ place }) => !took.has(nameOf(place)));
      const partitions = [...Map.groupBy(left, ({ place }) => nameOf(place)).values()];
      if (isUnreachable(error)) return noteFaults(placed, error, faults);
      if (partitions.length > 1) {
        for (const one of partitions) await this.#sendToLeader(one, faults, signal);
      } else if (isMoving(error) && moves < movesMax) {
        await sleep(moveMs);
        await this.#sendToLeader(left, faults, signal, moves + 1);
      } else noteFaults(left, error, faults);
    }
  }

  #send(placed: readonly Placed[], signal: AbortSignal): Promise<void> {
    if (this.#producer.isBroken) this.#producer = new BreakableProducer(this.#createClient);
    return this.#producer.send(messagesOf(placed, this.#schemaHeaders, this.#clock.nowMs()), signal);
  }
}

type PartitionMetadata = Awaited<ReturnType<Admin["fetchTopicMetadata"]>>["topics"][number]["partitions"];

function leadersIn(partitions: PartitionMetadata): number[] {
  const leaders: number[] = Array.from({ length: partitions.length }, () => noLeader);
  for (const { partitionId, leader } of partitions) leaders[partitionId] = leader;
  return leaders;
}

/** The partitions that take no records now, by name. */
type Faults = Map<string, { readonly place: PartitionAtFault; readonly error: unknown }>;

function noteFaults(placed: readonly Placed[], error: unknown, faults: Faults): void {
  for (const { place } of placed) faults.set(nameOf(place), { place, error });
}

const nameOf = ({ topic, partition }: PartitionAtFault): string => `${topic}/${partition}`;

/** Splits the records into requests, in order. */
function requestsOf(placed: readonly Placed[]): Placed[][] {
  const requests: Placed[][] = [[]];
  let bytes = 0;
  for (const one of placed) {
    const recordBytes = (one.record.value?.length ?? 0) + one.record.key.length;
    if (bytes + recordBytes > requestBytesMax && bytes > 0) {
      requests.push([]);
      bytes = 0;
    }
    bytes += recordBytes;
    requests.at(-1)?.push(one);
  }
  return requests;
}

/** Builds the messages of a request. kafkajs by itself would take the time of the machine, which may be hours off. */
function messagesOf(request: readonly Placed[], schemaHeaders: SchemaHeaders, nowMs: number): TopicMessages[] {
  const timestamp = String(Math.floor(nowMs));
  const records = request.map(({ record }) => {
    const more = schemaHeaders.get(record.headers.ce_type ?? "");
    return { ...record, timestamp, ...(more && { headers: { ...record.headers, ...more } }) };
  });
  return [...Map.groupBy(records, ({ topic }) => topic)].map(([topic, messages]) => ({ topic, messages }));
}

/** Refusals of the records. One of their time is none: it passes once the clocks agree again. */
const refusals = {
  "too-large": {
    types: ["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"],
    message: "the topic does not accept records of this size",
  },
  "unknown-topic": { types: ["UNKNOWN_TOPIC_OR_PARTITION"], message: "a topic does not exist" },
  invalid: {
    types: ["INVALID_RECORD", "CORRUPT_MESSAGE"],
    message: "the log does not accept such a record",
  },
} as const;

function toPublishError(error: unknown): PublishError {
  if (error instanceof PublishError) return error;
  for (const { type } of linksOf(error)) {
    for (const reason of ["too-large", "unknown-topic", "invalid"] as const) {
      const { types, message } = refusals[reason];
      if (types.some((one) => one === type)) return new PublishError(reason, message, { cause: error });
    }
  }
  return new PublishError("unavailable", messageOf(error), { cause: error });
}

const messageOf = (error: unknown): string => `Kafka did not take the records: ${(error as Error).message}`;

/** Longest time that a publisher waits for one request. */
export const publishTimeouts = { connectionTimeout: 2_000, requestTimeout: 4_000 };
/** Longest time that the broker waits for its replicas. */
const replicasMs = 2_000;

/**
 * A producer whose connections can be broken off, so that a late request does not land behind its repetition. It
 * repeats nothing by itself and is not kafkajs's idempotent one, which loses its sequence after a reconnect.
 */
class BreakableProducer {
  readonly #client: BreakableClient;
  readonly #producer: Producer;
  #connecting: Promise<void> | null = null;

  constructor(createClient: CreateClient) {
    this.#client = new BreakableClient(createClient);
    this.#producer = this.#client.kafka.producer({
      allowAutoTopicCreation: false,
      createPartitioner:
        () =>
        ({ message, partitionMetadata }) =>
          partitionOf(String(message.key), partitionMetadata.length),
      retry: { retries: 0 },
    });
  }

  get isBroken(): boolean {
    return this.#client.isBroken;
  }

  /** Sends with acknowledgement of all replicas, and breaks off all requests for good when the signal aborts. */
  async send(topicMessages: TopicMessages[], signal: AbortSignal): Promise<void> {
    const late = new LateAnswer("Kafka did not acknowledge in time");
    if (signal.aborted) throw late;
    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => {}); // it may abort after the last wait
    const breakOff = () => {
      aborted.reject(late);
      if (this.isBroken) return;
      this.#client.break(late);
      void this.close().catch(() => {});
    };
    signal.addEventListener("abort", breakOff, { once: true });
    try {
      await Promise.race([aborted.promise, this.#send(topicMessages)]);
    } finally {
      signal.removeEventListener("abort", breakOff);
    }
  }

  async #send(topicMessages: TopicMessages[]): Promise<void> {
    this.#connecting ??= this.#producer.connect();
    await this.#connecting.catch((error: unknown) => {
      this.#connecting = null;
      throw error;
    });
    await this.#producer.sendBatch({ acks: -1, timeout: replicasMs, compression: zstd, topicMessages });
  }

  close(): Promise<void> {
    return this.#producer.disconnect();
  }
}
