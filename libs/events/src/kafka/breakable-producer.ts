import type { Producer, TopicMessages } from "kafkajs";
import { partitionOf } from "../partition-of.ts";
import { BreakableClient, type CreateClient } from "./breakable-client.ts";
import { zstd } from "./kafkajs.ts";

/** Longest time that a publisher waits for one request. */
export const publishTimeouts = { connectionTimeout: 2_000, requestTimeout: 4_000 };
/** Longest time that the broker waits for its replicas. */
const replicasMs = 2_000;

/**
 * A producer whose connections can be broken off, so that a late request does not land behind its repetition. It
 * repeats nothing by itself and is not kafkajs's idempotent one, which loses its sequence after a reconnect.
 */
export class BreakableProducer {
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

  /** Sends with acknowledgement of all replicas. */
  async send(topicMessages: TopicMessages[]): Promise<void> {
    this.#connecting ??= this.#producer.connect();
    await this.#connecting.catch((error: unknown) => {
      this.#connecting = null;
      throw error;
    });
    await this.#producer.sendBatch({ acks: -1, timeout: replicasMs, compression: zstd, topicMessages });
  }

  /** Breaks off all requests for good: the next publish takes another producer. */
  break(reason: Error): void {
    if (this.isBroken) return;
    this.#client.break(reason);
    void this.close().catch(() => {});
  }

  close(): Promise<void> {
    return this.#producer.disconnect();
  }
}
