import { createRequire } from "node:module";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import { MiB, systemClock } from "@signalbox/core";
import type { Logger } from "@signalbox/telemetry";
import "./dead-brokers.ts";
import "./partition-answers.ts";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import kafkajs, { type IHeaders, type Kafka, type KafkaConfig, type KafkaMessage, type LogEntry } from "kafkajs";
import type { ReceivedRecord } from "../event-log.ts";

// kafkajs is CommonJS: only the default import holds all of it.
const { CompressionCodecs, CompressionTypes, Kafka: KafkaClient, logLevel } = kafkajs;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** The fastest level: batches of JSON shrink about as well as at higher ones. */
const zstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: (encoder: { buffer: Buffer }) => compress(encoder.buffer, zstdOptions),
  decompress: (buffer: Buffer) => decompress(buffer),
});

/**
 * Bytes on the wire; JSON is several times larger once decompressed. A single larger record is delivered all the same:
 * the broker gives the first partition of a fetch at least one, and kafkajs shuffles the order.
 */
export const fetchLimits = { maxBytesPerPartition: MiB, maxBytes: 4 * MiB };

interface RequestQueue {
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  throttledUntil: number;
  readonly pending: readonly unknown[];
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
}

/**
 * Schedules a check of a connection only while something waits: kafkajs 2.2.4 wakes every connection each millisecond,
 * even when idle (tulios/kafkajs#1751: 3 idle producers burn 2 % of a core and print TimeoutNegativeWarning).
 */
function stopIdleTimers(): void {
  const queue = createRequire(import.meta.url)("kafkajs/src/network/requestQueue/index.js").prototype as RequestQueue;
  queue.scheduleCheckPendingRequests = function scheduleCheckPendingRequests(this: RequestQueue) {
    if (this.throttleCheckTimeoutId) return;
    const throttledMs = this.throttledUntil - systemClock.nowMs();
    if (this.pending.length === 0 && throttledMs <= 0) return;
    this.throttleCheckTimeoutId = setTimeout(
      () => {
        this.throttleCheckTimeoutId = null;
        this.checkPendingRequests();
      },
      throttledMs > 0 ? throttledMs : 10,
    );
  };
}
stopIdleTimers();

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
export const topicResource = kafkajs.ConfigResourceTypes.TOPIC;
export const brokerResource = kafkajs.ConfigResourceTypes.BROKER;

export function toReceivedRecord(topic: string, partition: number, message: KafkaMessage): ReceivedRecord {
  return {
    topic,
    partition,
    offset: BigInt(message.offset),
    key: message.key?.toString() ?? "",
    headers: toText(message.headers ?? {}),
    value: message.value,
    timestampMs: Number(message.timestamp),
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

interface Connection {
  readonly socket: Socket | undefined;
  connect(): Promise<boolean>;
  send(request: unknown): Promise<unknown>;
}

const connection: Connection = createRequire(import.meta.url)("kafkajs/src/network/connection.js").prototype;

/** Ends a connection of kafkajs at once, by a reset: after an orderly end, buffered data might still be delivered. */
export function breakOff(socket: Socket, reason: Error): void {
  // A socket that is still connecting would first connect and then be reset.
  if (socket instanceof TLSSocket || socket.connecting || socket.writableEnded) return void socket.destroy(reason);
  socket.resetAndDestroy();
  socket.emit("error", reason); // kafkajs listens for this event only
}

/**
 * Shares one connection attempt: kafkajs 2.2.4 opens a socket for each request that finds none, and keeps only the last
 * of them.
 */
function connectOnce(): void {
  const { connect } = connection;
  const connecting = new WeakMap<object, Promise<boolean>>();
  connection.connect = function connectOnceAtATime(this: Connection) {
    const known = connecting.get(this);
    if (known) return known;
    const attempt = connect.call(this).finally(() => connecting.delete(this));
    connecting.set(this, attempt);
    this.socket?.setMaxListeners(0); // each request that fails meanwhile adds a listener
    return attempt;
  };
}

/**
 * Breaks off silent connections: kafkajs keeps using a connection that does not answer, into a network that is gone.
 */
function breakOffSilentConnections(): void {
  const { send } = connection;
  connection.send = async function sendOrBreakOff(this: Connection, request) {
    try {
      return await send.call(this, request);
    } catch (error) {
      if ((error as Error).name === "KafkaJSRequestTimeoutError" && this.socket) breakOff(this.socket, error as Error);
      throw error;
    }
  };
}

connectOnce();
breakOffSilentConnections();
