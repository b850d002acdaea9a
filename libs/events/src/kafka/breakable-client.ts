import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { ISocketFactory, Kafka } from "kafkajs";
import { breakOff } from "./connections.ts";

const openSocket = (createRequire(import.meta.url)("kafkajs/src/network/socketFactory.js") as () => ISocketFactory)();

/** How long a broker may take to let a part of a client go. */
const disconnectMs = 2_000;

export type CreateClient = (socketFactory: ISocketFactory) => Kafka;

/** A client of kafkajs whose connections can be broken off, because kafkajs itself waits for every answer. */
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

  /** Breaks off what is on its way, for good: no connection is opened any more. */
  break(reason: Error): void {
    if (this.#broken) return;
    this.#broken = reason;
    for (const socket of this.#sockets) breakOff(socket, reason);
  }

  /** Ends a part of this client in order, or by breaking off when that takes too long. Nothing can be made of it afterwards. */
  async end(part: { disconnect(): Promise<void> }): Promise<void> {
    // kafkajs waits for the answer to a request to join, which takes as long as the group has a member that is silent.
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
