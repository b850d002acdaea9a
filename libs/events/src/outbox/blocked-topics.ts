import type { Clock } from "@signalbox/core";
import type { Logger } from "@signalbox/runtime";
import type { PartitionAtFault } from "../log/event-log.ts";
import type { OutboxRow } from "./publish-page.ts";
import { isOfPartition } from "./publish-page.ts";

const missingTopicPauseMs = 10_000;
const partitionPauseMs = 1_000;

/**
 * Topics that the log does not have, and partitions without a broker. Their events wait, in order, while the rest of
 * their shards goes on.
 */
export class BlockedTopics {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #topics = new Map<string, number>();
  readonly #partitions = new Map<string, PartitionAtFault & { readonly endsMs: number }>();

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  addTopic(topic: string): void {
    this.#log.error(
      { topic },
      "a topic does not exist: its events wait in the outbox; create it with `npm run topics`",
    );
    this.#topics.set(topic, this.#clock.steadyMs() + missingTopicPauseMs);
  }

  /**
   * Blocks a partition. @param tookMs duration of the failed publish: a partition that hangs is retried seldom, since
   * the others of its page hang with it
   */
  addPartition(place: PartitionAtFault, error: unknown, tookMs: number): void {
    const name = nameOf(place);
    this.#log.outage("The event log").failed(name, error);
    const endsMs = this.#clock.steadyMs() + Math.max(partitionPauseMs, 2 * tookMs);
    this.#partitions.set(name, { ...place, endsMs });
  }

  /** Unblocks the partitions of published rows. */
  passed(rows: readonly OutboxRow[]): void {
    for (const [name, place] of this.#partitions) {
      if (!rows.some((row) => isOfPartition(row, place))) continue;
      this.#partitions.delete(name);
      this.#log.outage("The event log").passed(name);
    }
  }

  topics(): string[] {
    const nowMs = this.#clock.steadyMs();
    return [...this.#topics].filter(([, endsMs]) => endsMs > nowMs).map(([topic]) => topic);
  }

  partitions(): PartitionAtFault[] {
    const nowMs = this.#clock.steadyMs();
    return [...this.#partitions.values()].filter(({ endsMs }) => endsMs > nowMs);
  }
}

const nameOf = ({ topic, partition }: PartitionAtFault): string => `outbox partition ${topic}/${partition}`;
