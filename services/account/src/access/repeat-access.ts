import { type Clock, hours } from "@signalbox/core";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AccessLog } from "./access-log.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly accessLog: Pick<AccessLog, "repeat" | "forget">;
  readonly clock: Clock;
}

const intervalMs = hours(1);
/** Keeps one transaction, and with it the outbox of other writers, short. */
const batch = 200;

/**
 * Says every live access entry again, once an hour: a log that lost its newest records, or is a new one, learns of
 * suspensions without anybody's help; and forgets the entries that are over, so that the log does not grow with every
 * token. Several instances share the work, and a repeated entry changes nothing.
 */
export function createRepeatAccess({ pool, accessLog, clock }: Dependencies) {
  return async function repeatAccess(): Promise<number> {
    const now = clock.now();
    const before = new Date(now.getTime() - intervalMs);
    await inBatches((tx) => accessLog.forget(tx, { now, limit: batch }));
    return inBatches((tx) => accessLog.repeat(tx, { before, now, limit: batch }));
  };

  async function inBatches(work: (tx: Tx) => Promise<number>): Promise<number> {
    let total = 0;
    for (;;) {
      const found = await inTransaction(pool, work);
      total += found;
      if (found < batch) return total;
    }
  }
}
