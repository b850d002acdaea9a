/** An exclusive right for a limited time. It saves work; correctness never depends on it. */
interface Lease {
  /** Grows with every lease of the key: a store can refuse the write of a previous holder. */
  readonly fencingToken: number;
  /** Releases the lease unless another holder has it. */
  release(): Promise<void>;
}

/**
 * Values that may be lost at any time. No call throws and none waits long: during an outage of the cache `get` finds
 * nothing, `set` and `delete` have no effect, `increment` counts in this process only, `lease` and `takeShares` grant
 * none. Keys belong to the service that opened the cache, except those of shares, which all services of a Redis count
 * together.
 */
export interface Cache extends ShareCounter {
  get(key: string): Promise<Buffer | null>;
  set(key: string, value: Uint8Array | string, options: { expiresInMs: number }): Promise<void>;
  delete(key: string): Promise<void>;
  /** Adds and returns the sum. `expiresInMs` counts from the first increment of a new key. */
  increment(key: string, by: number, options: { expiresInMs: number }): Promise<number>;
  /** Grants the lease; null when another holds it, or during an outage of the cache. */
  lease(key: string, options: { durationMs: number }): Promise<Lease | null>;
  readonly state: "up" | "away";
}

/** Counts the allowances of rate limits. */
export interface ShareCounter {
  /**
   * Takes up to `wanted` of the rest of `limit` in the window of `windowMs` that started with the first take; null
   * during an outage of the cache.
   */
  takeShares(key: string, options: TakeShares): Promise<Shares | null>;
}

interface TakeShares {
  readonly wanted: number;
  readonly limit: number;
  readonly windowMs: number;
}

interface Shares {
  readonly granted: number;
  /** The remainder for all callers after this grant. */
  readonly remaining: number;
  /** Time until the window ends. */
  readonly resetMs: number;
}
