import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@signalbox/runtime";
import { type Pool, sql } from "@signalbox/storage";
import type { ReceivedRecord, SubscribeOptions } from "../log/event-log.ts";
import { readRecords } from "./log-records.ts";
import type { Membership, OwnedPartition } from "./membership.ts";

/** The shared parts of the readers of one member. */
export interface ReaderParts {
  readonly pool: Pool;
  readonly log: Logger;
  readonly group: string;
  readonly handle: SubscribeOptions["handle"];
  readonly onExpired: NonNullable<SubscribeOptions["onExpired"]>;
  readonly membership: Membership;
  /** Bounds the batches in hand over all partitions of the member. */
  readonly limited: <T>(work: () => Promise<T>) => Promise<T>;
  /** Aborted when the subscription closes. */
  readonly closing: AbortSignal;
  /** Called when a reader has reached its end: more records may have arrived meanwhile. */
  readonly onRead: () => void;
  /** Called when a commit was refused: the partition belongs to another member. */
  readonly onLost: () => void;
}

const pauseMaxMs = 5_000;

/** Compaction does not move the first offset: records before it were deleted by the retention. */
const findFirst = sql("log.find-first", "select first_offset from signalbox.log_partition where id = $1");

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

  /** Starts to read up to the end, unless it already reads or has reached it. */
  readTo(end: bigint): void {
    if (!this.isIdle() || end <= this.#position) return;
    this.#busy = this.#read(end).finally(() => {
      this.#busy = null;
    });
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Resolves when no batch is in progress. */
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
        log.warn({ error, group, topic: this.owned.topic }, "a batch failed and will be delivered again");
        await sleep(Math.min(pauseMaxMs, 100 * 2 ** failures), undefined, { signal: this.#signal }).catch(() => {});
      }
    }
    onRead();
  }

  async #readBatch(end: bigint): Promise<void> {
    if (this.#signal.aborted) return;
    const { pool, handle } = this.#parts;
    const { topic, partition, partitionId } = this.owned;
    const records = await readRecords(pool, partitionId, this.owned, this.#position);
    const heartbeat = async () => {}; // the member beats for all its partitions
    if (!(await this.#skipExpired(records, end))) return;
    const batch = { topic, partition, records, endOffset: end, signal: this.#signal, heartbeat };
    const done = records.length === 0 ? 0 : ((await handle(batch)) ?? records.length);
    const last = records[done - 1];
    const gap = records.length === 0 ? end : this.#position; // compacted or expired
    await this.#commit(last ? last.offset + 1n : gap);
  }

  /**
   * Reports records that expired before they were read, and commits past them; returns false when the partition belongs
   * to another member.
   */
  async #skipExpired([next]: readonly ReceivedRecord[], end: bigint): Promise<boolean> {
    const from = this.#position;
    const to = next?.offset ?? end;
    if (to === from) return true;
    const { topic, partition, partitionId } = this.owned;
    const { rows } = await this.#parts.pool.query<{ first_offset: bigint }>(findFirst, [partitionId]);
    let goOn = rows[0]?.first_offset ?? from;
    if (goOn > to) goOn = to; // the retention has advanced since the page was read
    if (goOn <= from) return true;
    this.#parts.onExpired({ topic, partition, records: Number(goOn - from) });
    this.#position = goOn; // reported once, even when the commit fails
    return this.#commit(goOn, from);
  }

  /** Commits the position; returns false when the partition belongs to another member by now. */
  async #commit(position: bigint, before = this.#position): Promise<boolean> {
    if (position === before) return true;
    const isOurs = await this.#parts.membership.commit(this.owned, position);
    if (isOurs) {
      this.#position = position;
    } else {
      this.stop();
      this.#parts.onLost();
    }
    return isOurs;
  }
}
