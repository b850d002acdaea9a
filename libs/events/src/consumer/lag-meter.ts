import { type Clock, seconds } from "@signalbox/core";
import { bounded, coalesce } from "../log/concurrency.ts";
import type { EventLog, PartitionLag } from "../log/event-log.ts";

/** The lag of a consumer on one topic. */
export interface TopicLag {
  readonly topic: string;
  readonly messages: number;
  /** The age of the oldest unhandled message; 0 when none waits. */
  readonly seconds: number;
}

interface LagMeterOptions {
  readonly eventLog: EventLog;
  readonly group: string;
  readonly topics: readonly string[];
  readonly clock: Clock;
}

/** Longest time that a scrape waits for the log. */
const measureMsMax = seconds(1);

/** Measures the lag of a consumer, whether or not the consumer itself is reading. */
export class LagMeter {
  readonly #options: LagMeterOptions;
  readonly #measure = coalesce(() => this.#ask());
  #measuredMs: number;
  #lags: readonly TopicLag[];

  constructor(options: LagMeterOptions) {
    this.#options = options;
    this.#measuredMs = options.clock.steadyMs();
    this.#lags = options.topics.map((topic) => ({ topic, messages: 0, seconds: 0 }));
  }

  /**
   * Returns the current lag. While the log is away, returns the last known one with its age increased: records that
   * arrived meanwhile are not known to be handled.
   */
  async read(): Promise<readonly TopicLag[]> {
    try {
      await bounded(this.#measure(), measureMsMax, () => new Error("the log did not answer in time"));
      return this.#lags;
    } catch {
      const sinceSeconds = (this.#options.clock.steadyMs() - this.#measuredMs) / 1000;
      return this.#lags.map((lag) => ({ ...lag, seconds: lag.seconds + sinceSeconds }));
    }
  }

  async #ask(): Promise<void> {
    const { eventLog, group, topics, clock } = this.#options;
    const askedMs = clock.steadyMs();
    const partitions = await eventLog.lag(group, topics);
    this.#measuredMs = askedMs;
    this.#lags = topics.map((topic) => sum(topic, partitions));
  }
}

function sum(topic: string, partitions: readonly PartitionLag[]): TopicLag {
  const ofTopic = partitions.filter((partition) => partition.topic === topic);
  return {
    topic,
    messages: ofTopic.reduce((total, { messages }) => total + messages, 0),
    seconds: Math.max(0, ...ofTopic.map(({ seconds: age }) => age)),
  };
}
