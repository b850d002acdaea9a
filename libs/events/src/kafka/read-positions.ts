import type { Admin, Consumer } from "kafkajs";
import { type BroadcastOptions, beginningOf, type TopicPartition } from "../event-log.ts";
import { kafkaRanges } from "./kafka-lag.ts";

interface Position {
  readonly topic: string;
  readonly partition: number;
  /** The offset to read next. */
  next: bigint;
  /** The end of the partition when the reader opened. */
  readonly end: bigint;
  /** Time of its broker's last answer, on the steady clock. */
  heardMs: number;
}

/**
 * The positions of a broadcast reader in each partition. Nothing is committed: they restore the reader after a
 * rebalance.
 */
export class ReadPositions {
  readonly #positions = new Map<string, Position>();

  /** Asks the broker for the first and last offset of each partition. @throws UnknownTopic */
  static async find(admin: Admin, topics: readonly string[], from: BroadcastOptions["from"]): Promise<ReadPositions> {
    const found = new ReadPositions();
    for (const range of await kafkaRanges(admin, topics)) {
      const { topic, partition, end } = range;
      found.#positions.set(`${topic}/${partition}`, {
        topic,
        partition,
        next: beginningOf(from, range),
        end,
        heardMs: 0,
      });
    }
    return found;
  }

  of(topic: string, partition: number): Position | undefined {
    return this.#positions.get(`${topic}/${partition}`);
  }

  /** Returns true when every record that existed when the reader opened has been read. */
  areAtEnd(): boolean {
    return [...this.#positions.values()].every(({ next, end }) => next >= end);
  }

  markHeard(answered: readonly TopicPartition[], nowMs: number): void {
    for (const { topic, partition } of answered) {
      const position = this.of(topic, partition);
      if (position) position.heardMs = nowMs;
    }
  }

  /** Returns the time of the oldest last answer over all partitions. */
  heardMs(): number {
    return Math.min(...[...this.#positions.values()].map(({ heardMs }) => heardMs));
  }

  seek(consumer: Consumer): void {
    for (const { topic, partition, next } of this.#positions.values()) {
      consumer.seek({ topic, partition, offset: String(next) });
    }
  }
}
