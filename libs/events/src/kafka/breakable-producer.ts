import { createRequire } from "node:module";
import type { Socket } from "node:net";
import type { ISocketFactory, Kafka, Producer, TopicMessages } from "kafkajs";
import { partitionOf } from "../partition-of.ts";
import { breakOff } from "./connections.ts";
import { zstd } from "./kafkajs.ts";

const openSocket = (createRequire(import.meta.url)("kafkajs/src/network/socketFactory.js") as () => ISocketFactory)();

/** Whoever publishes waits no longer than this for one request. */
export const publishTimeouts = { connectionTimeout: 2_000, requestTimeout: 4_000 };
/** How long the broker waits for its replicas. */
const replicasMs = 2_000;

/**
 * A producer whose connections can be broken off, so that a request that is late does not land behind its repetition. It
 * repeats nothing by itself and is not kafkajs's idempotent one, which loses its sequence after a reconnect.
 */
export class BreakableProducer {
  readonly #producer: Producer;
  readonly #sockets = new Set<Socket>();
  #broken: Error | null = null;
  #connecting: Promise<void> | null = null;

  constructor(createClient: (socketFactory: ISocketFactory) => Kafka) {
    const client = createClient((options) => this.#open(options));
    this.#producer = client.producer({
      allowAutoTopicCreation: false,
      createPartitioner:
        () =>
        ({ message, partitionMetadata }) =>
          partitionOf(String(message.key), partitionMetadata.length),
      retry: { retries: 0 },
    });
  }

  get isBroken(): boolean {
    return this.#broken !== null;
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

  /** Breaks off what is on its way, for good: the next publish takes another producer. */
  break(reason: Error): void {
    if (this.#broken) return;
    this.#broken = reason;
    for (const socket of this.#sockets) breakOff(socket, reason);
    void this.close().catch(() => {});
  }

  close(): Promise<void> {
    return this.#producer.disconnect();
  }

  #open(options: Parameters<ISocketFactory>[0]): Socket {
    if (this.#broken) throw this.#broken;
    const socket = openSocket(options);
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    return socket;
  }
}
