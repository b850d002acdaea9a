import type { ReceivedBatch, ReceivedRecord } from "../event-log.ts";

/** A log that reads several partitions in turn must not wait long for one of them. */
const turnMs = 500;

export interface BatchParts {
  /** Lets a bounded number of messages run at the same time, over all partitions of the consumer. */
  readonly limited: <T>(work: () => Promise<T>) => Promise<T>;
  readonly steadyMs: () => number;
  readonly handle: (record: ReceivedRecord) => Promise<unknown>;
}

/**
 * Handles the messages of a batch: those of a key one after the other, different keys side by side. Returns how many, from
 * the first, are done; the rest comes again. A message is begun only when there is room for it, so whatever was begun lies
 * at the front of the batch.
 */
export async function handleBatch({ limited, steadyMs, handle }: BatchParts, batch: ReceivedBatch): Promise<number> {
  const endsMs = steadyMs() + turnMs;
  const done: boolean[] = [];
  const lanes = new Map<string, Promise<void>>();
  const running: Promise<void>[] = [];
  let failure: unknown;

  for (const [index, record] of batch.records.entries()) {
    if (batch.signal.aborted || failure !== undefined || steadyMs() > endsMs) break;
    done[index] = false;
    const started = Promise.withResolvers<void>();
    const lane = lanes.get(record.key);
    const work = limited(async () => {
      started.resolve();
      await lane;
      if (failure !== undefined || batch.signal.aborted) return;
      await handle(record);
      done[index] = true;
      await batch.heartbeat();
    }).catch((error: unknown) => {
      failure ??= error;
    });
    lanes.set(record.key, work);
    running.push(work);
    await started.promise;
  }
  await Promise.all(running);

  const firstUndone = done.indexOf(false);
  const count = firstUndone === -1 ? done.length : firstUndone;
  if (count === 0 && failure !== undefined) throw failure;
  return count;
}
