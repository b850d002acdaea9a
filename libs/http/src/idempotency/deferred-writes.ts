import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, seconds } from "@signalbox/core";
import type { Pool, Statement } from "@signalbox/storage";
import { claimMs } from "../routes/idempotency.ts";

const retryMs = seconds(1);
/** More than fail at once in an outage that ends. Claims beyond it expire. */
const owedMax = 1_000;

interface Write {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  readonly untilMs: number;
}

/**
 * Creates the list of writes to idempotency records that did not reach the database with their answer. Each is tried
 * again until it does or its claim has expired: a client that repeats its request after an outage of seconds must not be
 * told for minutes that the request is in progress. A process that ends forgets them, as its claims end with it.
 */
export function createDeferredWrites({ pool, clock }: { readonly pool: Pool; readonly clock: Clock }) {
  const owed: Write[] = [];
  let isTrying = false;

  return (statement: Statement, values: readonly unknown[]): void => {
    if (owed.length >= owedMax) return;
    owed.push({ statement, values, untilMs: clock.nowMs() + claimMs });
    if (!isTrying) void tryAll();
  };

  async function tryAll(): Promise<void> {
    isTrying = true;
    for (let next = owed.shift(); next; next = owed.shift()) {
      if (next.untilMs <= clock.nowMs() || (await isWritten(next))) continue;
      owed.push(next);
      await sleep(retryMs, undefined, { ref: false });
    }
    isTrying = false;
  }

  async function isWritten({ statement, values }: Write): Promise<boolean> {
    try {
      await pool.query(statement, values);
      return true;
    } catch {
      return false;
    }
  }
}
