import { createLimiter } from "../log/concurrency.ts";
import type { ReceivedBatch, ReceivedRecord } from "../log/event-log.ts";
import type { MessageOutcome } from "./message-context.ts";

/** A log that reads several partitions in turn must not wait long for one of them. */
const turnMs = 500;
/** Messages started beyond a busy key: the keys between go on, and all of them come again if the process ends. */
const startedMax = 32;

export interface BatchParts {
  /** Bounds the messages that run at the same time, over all partitions of the consumer. */
  readonly limited: <T>(work: () => Promise<T>) => Promise<T>;
  readonly steadyMs: () => number;
  readonly handle: (record: ReceivedRecord) => Promise<MessageOutcome | null>;
  /** Parks messages of one key together behind its waiting ones; returns false when they must be handled instead. */
  readonly parkBehind: (records: readonly ReceivedRecord[]) => Promise<boolean>;
}

/**
 * Handles the messages of a batch: those of a key in sequence, different keys concurrently. Returns how many, from the
 * first, are done; the rest comes again. A message that waits for an earlier one of its key occupies no place, and few
 * are started at a time, so started messages lie at the front of the batch. Messages behind a waiting one of their key
 * are parked together.
 */
export async function handleBatch(parts: BatchParts, batch: ReceivedBatch): Promise<number> {
  const { limited, steadyMs } = parts;
  const endsMs = steadyMs() + turnMs;
  const startLimit = createLimiter(startedMax);
  const progress = new Progress(batch.records);
  const lanes = new Map<string, Promise<void>>();
  const running: Promise<void>[] = [];
  let failure: unknown;
  const isBrokenOff = () => batch.signal.aborted || failure !== undefined;

  async function handleNext(index: number, record: ReceivedRecord): Promise<void> {
    const outcome = await parts.handle(record);
    progress.done(index);
    await batch.heartbeat();
    if (outcome !== "parked" && outcome !== "queued") return;
    const rest = progress.restOf(record.key, index);
    if (rest.length > 1 && (await parts.parkBehind(rest.map((at) => batch.records[at] as ReceivedRecord))))
      for (const at of rest) progress.done(at);
  }

  for (const [index, record] of batch.records.entries()) {
    if (isBrokenOff() || steadyMs() > endsMs) break;
    if (progress.isDone(index)) continue;
    const started = Promise.withResolvers<void>();
    const lane = lanes.get(record.key);
    const work = startLimit(async () => {
      started.resolve();
      await lane;
      await limited(async () => {
        if (isBrokenOff() || progress.isDone(index) || (lane && steadyMs() > endsMs)) return;
        await handleNext(index, record);
      });
    }).catch((error: unknown) => {
      failure ??= error;
    });
    lanes.set(record.key, work);
    running.push(work);
    await started.promise;
  }
  await Promise.all(running);

  const count = progress.doneFromFirst();
  if (count === 0 && failure !== undefined) throw failure;
  return count;
}

/** The progress of a batch: which of its messages are done. */
class Progress {
  readonly #records: readonly ReceivedRecord[];
  readonly #done = new Set<number>();

  constructor(records: readonly ReceivedRecord[]) {
    this.#records = records;
  }

  done(index: number): void {
    this.#done.add(index);
  }

  isDone(index: number): boolean {
    return this.#done.has(index);
  }

  /** The messages of the key after this one that are not done. */
  restOf(key: string, index: number): number[] {
    const rest: number[] = [];
    for (let at = index + 1; at < this.#records.length; at++)
      if (this.#records[at]?.key === key && !this.isDone(at)) rest.push(at);
    return rest;
  }

  doneFromFirst(): number {
    const undone = this.#records.findIndex((_, index) => !this.isDone(index));
    return undone === -1 ? this.#records.length : undone;
  }
}
