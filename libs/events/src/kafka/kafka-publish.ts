import { MiB } from "@signalbox/core";
import type { Admin, Kafka, Producer, TopicMessages } from "kafkajs";
import type { LogRecord } from "../event-log.ts";
import { partitionOf } from "../partition-of.ts";
import { PublishError } from "../publish-error.ts";
import { zstd } from "./kafkajs.ts";

/** One request holds at most this much before compression, so that a batch of one partition fits its topic. */
const requestBytesMax = MiB;

export interface KafkaPublisher {
  publish(records: readonly LogRecord[]): Promise<void>;
  close(): Promise<void>;
}

/** All of a publish is over before the relay loses its patience, 5 s. */
export const publishTimeouts = { connectionTimeout: 2_000, requestTimeout: 4_000 };

/**
 * Publishes with acknowledgement of all replicas. The producer is plain: kafkajs's idempotent one loses its sequence after
 * a reconnect, and readers remove duplicates by event id. It repeats nothing by itself: a repetition that nobody waits for
 * could land behind a newer record of its key, and on a compacted topic the older one would stay.
 */
export function createKafkaPublisher(kafka: Kafka, admin: () => Promise<Admin>): KafkaPublisher {
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    createPartitioner:
      () =>
      ({ message, partitionMetadata }) =>
        partitionOf(String(message.key), partitionMetadata.length),
    retry: { retries: 0 },
  });
  const knownTopics = new Set<string>();
  let connecting: Promise<void> | undefined;

  async function connected(): Promise<Producer> {
    connecting ??= producer.connect();
    await connecting.catch((error: unknown) => {
      connecting = undefined;
      throw error;
    });
    return producer;
  }

  /** Asked before sending: kafkajs itself would retry for long and then name no topic. */
  async function checkTopics(records: readonly LogRecord[]): Promise<void> {
    if (records.every(({ topic }) => knownTopics.has(topic))) return;
    for (const topic of await (await admin()).listTopics()) knownTopics.add(topic);
    const missing = records.find(({ topic }) => !knownTopics.has(topic))?.topic;
    if (missing !== undefined) {
      throw new PublishError("unknown-topic", `the topic ${missing} does not exist`, { topic: missing });
    }
  }

  return {
    async publish(records) {
      try {
        await checkTopics(records);
        for (const topicMessages of requestsOf(records)) {
          await (await connected()).sendBatch({ acks: -1, timeout: 3_500, compression: zstd, topicMessages });
        }
      } catch (error) {
        const publishError = toPublishError(error);
        if (publishError.reason === "unknown-topic") knownTopics.clear();
        throw publishError;
      }
    },
    close: () => producer.disconnect(),
  };
}

/** Cuts the records into requests, in order. */
function requestsOf(records: readonly LogRecord[]): TopicMessages[][] {
  const requests: LogRecord[][] = [[]];
  let bytes = 0;
  for (const record of records) {
    const recordBytes = (record.value?.length ?? 0) + record.key.length;
    if (bytes + recordBytes > requestBytesMax && bytes > 0) {
      requests.push([]);
      bytes = 0;
    }
    bytes += recordBytes;
    requests.at(-1)?.push(record);
  }
  return requests.map((request) =>
    [...Map.groupBy(request, ({ topic }) => topic)].map(([topic, messages]) => ({ topic, messages })),
  );
}

function toPublishError(error: unknown): PublishError {
  if (error instanceof PublishError) return error;
  for (let link = error as { type?: string; message?: string; cause?: unknown } | undefined; link; ) {
    if (link.type === "MESSAGE_TOO_LARGE" || link.type === "RECORD_LIST_TOO_LARGE") {
      return new PublishError("too-large", "the topic takes no record of this size", { cause: error });
    }
    if (link.type === "UNKNOWN_TOPIC_OR_PARTITION") {
      return new PublishError("unknown-topic", "a topic does not exist", { cause: error });
    }
    if (link.type === "INVALID_RECORD" || link.type === "CORRUPT_MESSAGE" || link.type === "INVALID_TIMESTAMP") {
      return new PublishError("invalid", "the log takes no such record", { cause: error });
    }
    link = link.cause as typeof link;
  }
  return new PublishError("unavailable", `Kafka did not take the records: ${(error as Error).message}`, {
    cause: error,
  });
}
