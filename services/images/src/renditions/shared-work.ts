interface UnderWay<T> {
  readonly result: Promise<T>;
  readonly abandoned: AbortController;
  waiting: number;
}

/**
 * Work that several callers want at the same time: done once for all of them, and cancelled when the last of them has
 * left.
 */
export class SharedWork<T> {
  readonly #underWay = new Map<string, UnderWay<T>>();

  has(key: string): boolean {
    return this.#underWay.has(key);
  }

  /**
   * Joins the work under this key, or starts it. Rejects with the signal's reason when the caller leaves before its
   * end.
   */
  async join(key: string, work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const underWay = this.#underWay.get(key) ?? this.#begin(key, work);
    underWay.waiting++;
    const { promise: left, reject } = Promise.withResolvers<never>();
    const leave = () => {
      reject(signal?.reason);
      if (--underWay.waiting > 0) return;
      // A later caller starts again instead of joining cancelled work.
      if (this.#underWay.get(key) === underWay) this.#underWay.delete(key);
      underWay.abandoned.abort(signal?.reason);
    };
    signal?.addEventListener("abort", leave, { once: true });
    try {
      return await Promise.race([underWay.result, left]);
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<T>): UnderWay<T> {
    const abandoned = new AbortController();
    const result = work(abandoned.signal).finally(() => {
      if (this.#underWay.get(key)?.abandoned === abandoned) this.#underWay.delete(key);
    });
    result.catch(() => {});
    const underWay = { result, abandoned, waiting: 0 };
    this.#underWay.set(key, underWay);
    return underWay;
  }
}
