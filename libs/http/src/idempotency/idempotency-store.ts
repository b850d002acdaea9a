import type { Clock } from "@signalbox/core";
import type { Pool, Sealer } from "@signalbox/storage";

export interface IdempotencyOptions {
  readonly service: string;
  readonly pool: Pool;
  /** Seals the answers of routes with `idempotent: "sealed"`; such a table is refused without it. */
  readonly sealer?: Sealer;
  readonly clock: Clock;
}

/** Opaque to services: hand it to `createHttpApp`, and `clean` to the runner as a worker. */
export interface IdempotencyStore {
  /** Deletes records past their 24 hours until the signal aborts: `runner.worker("idempotency", store.clean)`. */
  clean(signal: AbortSignal, beat: () => void): Promise<void>;
}

export declare function createIdempotencyStore(options: IdempotencyOptions): IdempotencyStore;
