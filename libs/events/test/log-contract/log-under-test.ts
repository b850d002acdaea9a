import { draft, eventOf } from "@signalbox/contracts";
import { systemClock } from "@signalbox/core";
import { createLogger, createMetrics, createTracer, type Logger } from "@signalbox/runtime";
import type {
  EventLog,
  LogRecord,
  ReceivedRecord,
  SubscribeOptions,
  Subscription,
  TopicSpec,
} from "../../src/log/event-log.ts";
import { openEventLog } from "../../src/open-event-log.ts";

/** One adapter, as the contract suite needs it. */
export interface LogUnderTest {
  readonly url: string;
  /** The shortest session the engine allows. */
  readonly sessionTimeoutMs: number;
  /** Deletes the records of partition 0 before the offset, as the retention of the topic does. */
  expire(topic: string, before: bigint): Promise<void>;
  /** Deletes the topic with its records. */
  remove(topic: string): Promise<void>;
  /** Opens the same log behind a proxy that the test can close. */
  openBehindDoor(): Promise<{
    readonly url: string;
    shut(): Promise<void>;
    reopen(): Promise<void>;
    close(): Promise<void>;
  }>;
}

export const quietLog: Logger = createLogger({
  service: "images",
  instance: "test",
  level: process.argv.includes("--verbose") ? "debug" : "silent",
});

/** Creates the parts that every module of the library receives. */
export function parts() {
  return {
    log: quietLog,
    metrics: createMetrics({ service: "images" }),
    clock: systemClock,
    tracer: createTracer("images"),
  };
}

export function openLog(url: string, clientId = "contract"): Promise<EventLog> {
  return openEventLog(url, { clientId, ...parts() });
}

export function topicSpec(name: string, changes: Partial<TopicSpec> = {}): TopicSpec {
  return {
    name,
    partitions: 6,
    cleanup: "delete",
    retentionMs: 3_600_000,
    maxMessageBytes: 4 * 1024 * 1024,
    ...changes,
  };
}

export function record(topic: string, key: string, value: string | Buffer | null = key, headers = {}): LogRecord {
  return { topic, key, headers, value: typeof value === "string" ? Buffer.from(value) : value };
}

/** A group member that records what it received. */
export interface Collector {
  readonly records: ReceivedRecord[];
  readonly subscription: Subscription;
  values(): string[];
}

export async function collect(
  eventLog: EventLog,
  group: string,
  topic: string,
  options: Pick<SubscribeOptions, "concurrency" | "sessionTimeoutMs" | "onExpired"> = {},
): Promise<Collector> {
  const records: ReceivedRecord[] = [];
  const subscription = await eventLog.subscribe({
    group,
    topics: [topic],
    ...options,
    async handle(batch) {
      records.push(...batch.records);
      return undefined;
    },
  });
  return { records, subscription, values: () => records.map(({ value }) => String(value)) };
}

/** Drafts an `image.updated` event; its title carries the value that the test expects. */
export function imageUpdated(subject: string, title: string) {
  return draft("image.updated", {
    subject,
    accountId: "acc_1",
    data: { ...eventOf("image.updated").example, id: subject, title },
  });
}

export const imageTopic = "signalbox.image.v1";
