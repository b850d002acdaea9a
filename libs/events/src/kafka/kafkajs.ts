import net, { isIP, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import tls from "node:tls";
import { type Clock, MiB } from "@signalbox/core";
import type { Logger } from "@signalbox/runtime";
import kafkajs, {
  type Admin,
  type IHeaders,
  type ISocketFactory,
  type Kafka,
  type KafkaConfig,
  type KafkaMessage,
  type LogEntry,
} from "kafkajs";
import type { ReceivedRecord } from "../log/event-log.ts";
import type { ReplacedTopics } from "../log/replaced-topics.ts";
import { installCodecs } from "./codecs/codecs.ts";
import "./patches/dead-coordinators.ts";
import "./patches/dead-leaders.ts";
import "./patches/expired-records.ts";
import "./patches/idle-timers.ts";
import "./patches/leaderless-partitions.ts";
import "./patches/living-brokers.ts";
import "./patches/one-connection.ts";
import "./patches/partial-produce.ts";
import { breakOff } from "./patches/silent-connections.ts";
import "./patches/start-offsets.ts";
import "./patches/topic-ids.ts";
import { unreadableReason } from "./patches/undecodable-batches.ts";

// kafkajs is CommonJS: only the default import holds all of it.
const { CompressionTypes, Kafka: KafkaClient, logLevel } = kafkajs;

installCodecs();

/** Creates the client of one process and service. It connects on first use. */
export function createKafka(
  brokers: readonly string[],
  clientId: string,
  log: Logger,
  options: Pick<KafkaConfig, "connectionTimeout" | "requestTimeout" | "socketFactory" | "ssl" | "sasl"> = {},
): Kafka {
  return new KafkaClient({
    clientId,
    brokers: [...brokers],
    connectionTimeout: 3_000,
    requestTimeout: 8_000,
    ...options,
    // Outages are waited out here, with a log line and without a crash.
    retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 1 },
    logLevel: log.isEnabled("debug") ? logLevel.INFO : logLevel.NOTHING,
    logCreator: () => (entry) => forward(log, entry),
  });
}

/**
 * Forwards log entries at lower levels: kafkajs logs a rebalance as an error, and one for each attempt at a broker that
 * is away. Real failures reach us as an exception or a crash and are logged where they stop.
 */
function forward(log: Logger, { namespace, log: { message, timestamp: _, logger: __, ...fields } }: LogEntry): void {
  log.debug(fields, `kafkajs ${namespace}: ${message}`);
}

export const zstd = CompressionTypes.ZSTD;

/** The parts from which a reader opens a client of its own. */
export interface KafkaParts {
  readonly createClient: CreateClient;
  readonly admin: () => Promise<Admin>;
  readonly ping: () => Promise<unknown>;
  readonly log: Logger;
  readonly replacedTopics: ReplacedTopics;
  readonly clock: Clock;
}

/** The settings of every consumer. */
export const consumerSettings = (restartOnFailure: () => Promise<boolean>) => ({
  // Bytes on the wire; JSON is several times larger once decompressed. A single larger record is delivered all the
  // same: the broker gives the first partition of a fetch at least one, and kafkajs shuffles the order.
  maxBytesPerPartition: MiB,
  maxBytes: 4 * MiB,
  maxWaitTimeInMs: 500,
  allowAutoTopicCreation: false,
  retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 8, restartOnFailure },
});

/** Offsets are resolved and committed by the handlers alone. */
export const runSettings = { autoCommit: false, eachBatchAutoResolve: false };

export function toReceivedRecord(topic: string, partition: number, message: KafkaMessage): ReceivedRecord {
  const unreadable = unreadableReason(message);
  return {
    topic,
    partition,
    offset: BigInt(message.offset),
    key: message.key?.toString() ?? "",
    headers: toText(message.headers ?? {}),
    value: message.value,
    timestampMs: Number(message.timestamp),
    ...(unreadable !== undefined && { unreadable }),
  };
}

function toText(headers: IHeaders): Record<string, string> {
  const text: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const last = Array.isArray(value) ? value.at(-1) : value;
    if (last !== undefined) text[name] = last.toString();
  }
  return text;
}

/** Longest time that a broker may take to close a part of a client. */
const disconnectMs = 2_000;
const keepAliveMs = 60_000;

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

  #open({ host, port, ssl, onConnect }: Parameters<ISocketFactory>[0]): Socket {
    if (this.#broken) throw this.#broken;
    const name = isIP(host) ? {} : { servername: host };
    const socket = ssl
      ? tls.connect({ host, port, ...name, ...ssl }, onConnect)
      : net.connect({ host, port }, onConnect);
    socket.setKeepAlive(true, keepAliveMs);
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    return socket;
  }
}
