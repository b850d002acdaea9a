/** The right to do something alone for a while. It saves work; correctness never rests on it. */
interface Lease {
  /** Grows with every lease of the key: a store can refuse the write of a holder whose lease has passed on. */
  readonly fencingToken: number;
  /** Gives the lease back if it is still ours. */
  release(): Promise<void>;
}

/**
 * Values that may be lost at any time. No call throws and none waits long: while the cache is away `get` finds nothing,
 * `set` and `delete` have no effect, `increment` counts in this process alone, `lease` and `takeShares` give none.
 * Keys belong to the service that opened the cache, but for those of shares, which all services of a Redis count together.
 */
export interface Cache {
  get(key: string): Promise<Buffer | null>;
  set(key: string, value: Uint8Array | string, options: { expiresInMs: number }): Promise<void>;
  delete(key: string): Promise<void>;
  /** Adds and returns the sum. `expiresInMs` counts from the first increment of a key that was not there. */
  increment(key: string, by: number, options: { expiresInMs: number }): Promise<number>;
  /** null when another holds it, or the cache is away. */
  lease(key: string, options: { durationMs: number }): Promise<Lease | null>;
  /**
   * Takes up to `wanted` of what is left of `limit` in the window of `windowMs` that began with the first take; null
   * when the cache is away.
   */
  takeShares(key: string, options: TakeShares): Promise<Shares | null>;
  readonly state: "up" | "away";
}

interface TakeShares {
  readonly wanted: number;
  readonly limit: number;
  readonly windowMs: number;
}

interface Shares {
  readonly granted: number;
  /** The remainder for everybody after this grant. */
  readonly remaining: number;
  /** Until the window ends. */
  readonly resetMs: number;
}
