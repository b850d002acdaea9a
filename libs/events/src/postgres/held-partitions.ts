import type { TopicPartition } from "../log/event-log.ts";
import type { Tended } from "./membership.ts";
import { PartitionReader, type ReaderParts } from "./partition-reader.ts";

interface HeldParts extends ReaderParts {
  /** Called when a partition that must be given back is finished. */
  readonly onFinished: () => void;
}

/** The partitions of a member, each with its reader. */
export class HeldPartitions {
  readonly #parts: HeldParts;
  readonly #readers = new Map<number, PartitionReader>();
  /** Partitions being given back: their readers finish the current batch. True once finished. */
  readonly #leaving = new Map<number, boolean>();

  constructor(parts: HeldParts) {
    this.#parts = parts;
  }

  assignments(): readonly TopicPartition[] {
    return [...this.#readers.values()].map(({ owned: { topic, partition } }) => ({ topic, partition }));
  }

  /** Returns the ids of the partitions that have an idle reader. */
  idle(): readonly number[] {
    return [...this.#readers].filter(([id, reader]) => reader.isIdle() && !this.#leaving.has(id)).map(([id]) => id);
  }

  readTo(partitionId: number, end: bigint): void {
    this.#readers.get(partitionId)?.readTo(end);
  }

  /** Returns the ids of finished partitions, to be given back with the next heartbeat. */
  finished(): readonly number[] {
    return [...this.#leaving].filter(([, isFinished]) => isFinished).map(([id]) => id);
  }

  /**
   * Drops partitions that others own now, releases those to give back and starts the new ones. Waits for nothing: the
   * member has to send heartbeats for partitions whose last batch takes long, or others would read them at the same
   * time.
   */
  follow({ owned, toGiveBack }: Tended): void {
    const epochs = new Map(owned.map(({ partitionId, epoch }) => [partitionId, epoch]));
    for (const [id, reader] of this.#readers) {
      if (epochs.get(id) === reader.owned.epoch) continue;
      reader.stop();
      this.#forget(id);
    }
    for (const id of toGiveBack) this.#letGo(id);
    for (const partition of owned) {
      const { partitionId: id } = partition;
      if (this.#readers.has(id) || toGiveBack.includes(id)) continue;
      this.#readers.set(id, new PartitionReader(this.#parts, partition));
    }
  }

  /** Stops reading at once: others may own the partitions by now. */
  drop(): void {
    for (const reader of this.#readers.values()) reader.stop();
    this.#readers.clear();
    this.#leaving.clear();
  }

  /** Resolves when no batch is in progress. */
  async allFinished(): Promise<void> {
    await Promise.all([...this.#readers.values()].map((reader) => reader.finished()));
  }

  #letGo(id: number): void {
    const reader = this.#readers.get(id);
    if (!reader || this.#leaving.has(id)) return;
    this.#leaving.set(id, false);
    reader.stop();
    void reader.finished().then(() => {
      if (this.#readers.get(id) !== reader) return;
      this.#leaving.set(id, true);
      this.#parts.onFinished();
    });
  }

  #forget(id: number): void {
    this.#readers.delete(id);
    this.#leaving.delete(id);
  }
}
