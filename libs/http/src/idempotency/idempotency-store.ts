import { minutes, seconds } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { createClaim } from "./claim.ts";
import type { IdempotencyClaim } from "./idempotency.ts";
import type { IdempotencyOptions, KeyedRequest } from "./keyed-request.ts";

/** Opaque to services: hand it to `createHttpApp`, and `clean` to the runner as a worker. */
export interface IdempotencyStore {
  /** Whether answers that show secrets can be kept. */
  readonly seals: boolean;
  open(request: KeyedRequest): IdempotencyClaim;
  /** Deletes records past their 24 hours until the signal aborts: `runner.worker("idempotency", store.clean)`. */
  clean(signal: AbortSignal, beat: () => void): Promise<void>;
}

const cleanEveryMs = minutes(1);
const cleanBatch = 1_000;

const deleteExpired = sql(
  "idempotency.clean",
  `delete from signalbox.idempotency where ctid in (
     select ctid from signalbox.idempotency where expires_at <= $1 order by expires_at limit ${cleanBatch} for update skip locked
   )`,
);

/** Creates the keeper of `Idempotency-Key` records, rows of the service's own database. */
export function createIdempotencyStore(options: IdempotencyOptions): IdempotencyStore {
  return {
    seals: options.sealer !== undefined,
    open: (request) => createClaim(options, request),
    async clean(signal, beat) {
      while (!signal.aborted) {
        beat();
        const { rowCount } = await options.pool.query(deleteExpired, [options.clock.now()]);
        if (rowCount < cleanBatch) await pause(cleanEveryMs, signal, beat);
      }
    },
  };
}

/** Waits in short parts, so that the worker's heartbeat never looks stopped. */
async function pause(ms: number, signal: AbortSignal, beat: () => void): Promise<void> {
  const part = seconds(5);
  for (let waited = 0; waited < ms && !signal.aborted; waited += part) {
    beat();
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, part);
      signal.addEventListener("abort", done, { once: true });
    });
  }
}
