import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import type { SubscribeOptions } from "../event-log.ts";
import type { Membership, OwnedPartition } from "./membership.ts";
import { readRecords } from "./read-records.ts";

/** Shared by the readers of one member. */
export interface ReaderParts {
  readonly pool: Pool;
  readonly log: Logger;
  readonly group: string;
  readonly handle: SubscribeOptions["handle"];
  readonly membership: Pick<Membership, "commit">;
  /** Bounds the batches in hand over all partitions of the member. */
  readonly limited: <T>(work: () => Promise<T>) => Promise<T>;
  /** Aborted when the subscription closes. */
  readonly closing: AbortSignal;
  /** Called when a reader has come to the end it was given: more may have arrived meanwhile. */
  readonly onRead: () => void;
  /** Called when a commit was refused: the partition belongs to another member. */
  readonly onLost: () => void;
}

const pauseMaxMs = 5_000;

/** Reads one partition for as long as this member owns it: batch by batch, each committed before the next. */
export class PartitionReader {
  readonly owned: OwnedPartition;
  readonly #parts: ReaderParts;
  readonly #stop = new AbortController();
  /** Aborted when the partition is taken away or the subscription closes. */
  readonly #signal: AbortSignal;
  #position: bigint;
  #busy: Promise<void> | null = null;

  constructor(parts: ReaderParts, owned: OwnedPartition) {
    this.#parts = parts;
    this.owned = owned;
    this.#position = owned.committed;
    this.#signal = AbortSignal.any([this.#stop.signal, parts.closing]);
  }

  isIdle(): boolean {
    return this.#busy === null;
  }

  /** Starts to read up to the end, unless it reads already or is there. */
  readTo(end: bigint): void {
    if (!this.isIdle() || end <= this.#position) return;
    this.#busy = this.#read(end).finally(() => {
      this.#busy = null;
    });
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Resolves when no batch is in hand. */
  async finished(): Promise<void> {
    await this.#busy;
  }

  async #read(end: bigint): Promise<void> {
    const { limited, log, group, onRead } = this.#parts;
    let failures = 0;
    while (!this.#signal.aborted && this.#position < end) {
      try {
        await limited(() => this.#readBatch(end));
        failures = 0;
      } catch (error) {
        if (this.#signal.aborted) return;
        failures++;
        log.warn({ error, group, topic: this.owned.topic }, "a batch failed and comes again");
        await sleep(Math.min(pauseMaxMs, 100 * 2 ** failures), undefined, { signal: this.#signal }).catch(() => {});
      }
    }
    onRead();
  }

  async #readBatch(end: bigint): Promise<void> {
    if (this.#signal.aborted) return;
    const { pool, handle, membership, onLost } = this.#parts;
    const { topic, partition, partitionId } = this.owned;
    const records = await readRecords(pool, partitionId, this.owned, this.#position);
    const heartbeat = async () => {}; // the member beats for all its partitions
    const batch = { topic, partition, records, endOffset: end, signal: this.#signal, heartbeat };
    const done = records.length === 0 ? 0 : ((await handle(batch)) ?? records.length);
    const last = records[done - 1];
    const gap = records.length === 0 ? end : this.#position; // compacted or expired
    const position = last ? last.offset + 1n : gap;
    if (position === this.#position) return;
    if (await membership.commit(this.owned, position)) {
      this.#position = position;
    } else {
      this.stop();
      onLost();
    }
  }
}
