import type { TopicPartition } from "../event-log.ts";
import type { Tended } from "./membership.ts";
import { PartitionReader, type ReaderParts } from "./partition-reader.ts";

/** The partitions that a member holds, each with its reader. */
export class HeldPartitions {
  readonly #parts: ReaderParts;
  readonly #readers = new Map<number, PartitionReader>();

  constructor(parts: ReaderParts) {
    this.#parts = parts;
  }

  assignments(): readonly TopicPartition[] {
    return [...this.#readers.values()].map(({ owned: { topic, partition } }) => ({ topic, partition }));
  }

  /** The ids of the partitions that nothing is being read of. */
  idle(): readonly number[] {
    return [...this.#readers].filter(([, reader]) => reader.isIdle()).map(([id]) => id);
  }

  readTo(partitionId: number, end: bigint): void {
    this.#readers.get(partitionId)?.readTo(end);
  }

  /** Drops what others own now, finishes what is to be given back and takes up what is new. Returns what is finished. */
  async follow({ owned, toGiveBack }: Tended): Promise<readonly number[]> {
    const epochs = new Map(owned.map(({ partitionId, epoch }) => [partitionId, epoch]));
    for (const [id, reader] of this.#readers) {
      if (epochs.get(id) === reader.owned.epoch) continue;
      reader.stop();
      this.#readers.delete(id);
    }
    await this.#finish(toGiveBack);
    for (const partition of owned) {
      const { partitionId: id } = partition;
      if (this.#readers.has(id) || toGiveBack.includes(id)) continue;
      this.#readers.set(id, new PartitionReader(this.#parts, partition));
    }
    return toGiveBack;
  }

  /** Stops reading at once: others may own the partitions by now. */
  drop(): void {
    for (const reader of this.#readers.values()) reader.stop();
    this.#readers.clear();
  }

  /** Finishes every batch in hand and holds nothing any more. */
  async release(): Promise<void> {
    await this.#finish([...this.#readers.keys()]);
  }

  async #finish(partitionIds: readonly number[]): Promise<void> {
    const leaving = partitionIds.flatMap((id) => this.#readers.get(id) ?? []);
    for (const reader of leaving) reader.stop();
    await Promise.all(leaving.map((reader) => reader.finished()));
    for (const id of partitionIds) this.#readers.delete(id);
  }
}
