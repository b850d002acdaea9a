/** Places that owners share. One holds `factor` times as many as are free: something is always left for the next. */
export class Shares {
  readonly #max: number;
  readonly #factor: number;
  readonly #held = new Map<string, number>();
  total = 0;

  constructor(max: number, factor: number) {
    this.#max = max;
    this.#factor = factor;
  }

  heldBy(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  /** Number of further places that the owner may take, one after the other. */
  roomOf(owner: string): number {
    const free = this.#max - this.total;
    return Math.max(0, Math.ceil((this.#factor * free - this.heldBy(owner)) / (1 + this.#factor)));
  }

  /** Counts places as taken, or as free again when negative. */
  add(owner: string, count: number): void {
    this.total += count;
    const held = this.heldBy(owner) + count;
    if (held > 0) this.#held.set(owner, held);
    else this.#held.delete(owner);
  }
}
