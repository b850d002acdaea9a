import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { ISocketFactory, Kafka, Producer, TopicMessages } from "kafkajs";
import { partitionOf } from "../partition-of.ts";
import { breakOff, zstd } from "./kafkajs.ts";

const openSocket = (createRequire(import.meta.url)("kafkajs/src/network/socketFactory.js") as () => ISocketFactory)();

/** Longest time that a broker may take to close a part of a client. */
const disconnectMs = 2_000;

export type CreateClient = (socketFactory: ISocketFactory) => Kafka;

/** A kafkajs client whose connections can be broken off, because kafkajs itself waits for every answer. */
export class BreakableClient {
  readonly kafka: Kafka;
  readonly #sockets = new Set<Socket>();
  #broken: Error | null = null;

  constructor(create: CreateClient) {
    this.kafka = create((options) => this.#open(options));
  }

  get isBroken(): boolean {
    return this.#broken !== null;
  }

  /** Breaks off all requests for good: no connection is opened any more. */
  break(reason: Error): void {
    if (this.#broken) return;
    this.#broken = reason;
    for (const socket of this.#sockets) breakOff(socket, reason);
  }

  /**
   * Disconnects a part of this client in order, or breaks it off when that takes too long. The client is unusable
   * afterwards.
   */
  async end(part: { disconnect(): Promise<void> }): Promise<void> {
    // kafkajs waits for the answer to a join request, which takes as long as the group has a silent member.
    await Promise.race([part.disconnect().catch(() => {}), sleep(disconnectMs, undefined, { ref: false })]);
    this.break(new Error("the client is closed"));
  }

  #open(options: Parameters<ISocketFactory>[0]): Socket {
    if (this.#broken) throw this.#broken;
    const socket = openSocket(options);
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    return socket;
  }
}

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
