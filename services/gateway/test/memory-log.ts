import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventLog, LogRecord, ReceivedRecord } from "@signalbox/events";

type BroadcastOptions = Parameters<EventLog["broadcast"]>[0];
type BroadcastReader = Awaited<ReturnType<EventLog["broadcast"]>>;

/** A log of one partition in memory, whose oldest records can expire. */
export class MemoryLog {
  readonly #topic: string;
  readonly #records: ReceivedRecord[] = [];
  #first = 0n;
  #appended = Promise.withResolvers<void>();

  constructor(topic: string) {
    this.#topic = topic;
  }

  get first(): bigint {
    return this.#first;
  }

  get end(): bigint {
    return BigInt(this.#records.length);
  }

  append(...records: readonly LogRecord[]): void {
    for (const record of records) this.#records.push({ ...record, partition: 0, offset: this.end, timestampMs: 0 });
    this.#appended.resolve();
    this.#appended = Promise.withResolvers<void>();
  }

  expire(count: bigint): void {
    this.#first += count;
    if (this.#first > this.end) this.#first = this.end;
  }

  readonly broadcast = async ({ from, onRecord }: BroadcastOptions): Promise<BroadcastReader> => {
    await nextTurn();
    const range = { topic: this.#topic, partition: 0, first: this.#first, end: this.end };
    const wanted = typeof from === "function" ? from(range) : range[from === "start" ? "first" : "end"];
    const closed = Promise.withResolvers<void>();
    const caughtUp = Promise.withResolvers<void>();
    let isClosed = false;
    const read = async () => {
      let next = wanted;
      if (next < range.first) next = range.first;
      while (!isClosed) {
        if (next >= range.end) caughtUp.resolve();
        const record = this.#records[Number(next)];
        if (!record) await Promise.race([this.#appended.promise, closed.promise]);
        else {
          await Promise.race([onRecord(record), closed.promise]);
          next++;
        }
      }
    };
    return {
      caughtUp: caughtUp.promise,
      ended: read(),
      ageMs: () => 0,
      health: () => null,
      liveness: async () => null,
      close: async () => {
        isClosed = true;
        closed.resolve();
      },
    };
  };
}
