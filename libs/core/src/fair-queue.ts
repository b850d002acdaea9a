/**
 * A queue in which turns go round callers; the items of one caller keep their order. A caller with a hundred waiting
 * items delays another's only one by at most one of them.
 */
export class FairQueue<Item> {
  readonly #lengthMax: number;
  /** Waiting items by caller; the caller whose turn it is comes first. */
  readonly #lines = new Map<string, Item[]>();
  #length = 0;

  constructor(lengthMax = Number.POSITIVE_INFINITY) {
    this.#lengthMax = lengthMax;
  }

  get length(): number {
    return this.#length;
  }

  /**
   * Adds an item. A full queue returns the one that has to leave: the last of the longest line, which is the new one
   * where no line is longer than its own.
   */
  add(caller: string, item: Item): Item | null {
    const line = this.#lines.get(caller) ?? [];
    if (this.#length >= this.#lengthMax) {
      const longest = [...this.#lines.values()].reduce((a, b) => (b.length > a.length ? b : a), line);
      if (longest.length <= line.length + 1) return item;
      line.push(item);
      this.#lines.set(caller, line);
      return longest.pop() ?? null;
    }
    line.push(item);
    this.#lines.set(caller, line);
    this.#length++;
    return null;
  }

  /** Removes the next item of a caller that may go, and moves its caller to the end of the round. */
  next(mayGo: (caller: string) => boolean = () => true): Item | undefined {
    for (const [caller, line] of this.#lines) {
      if (!mayGo(caller)) continue;
      const item = line.shift();
      this.#lines.delete(caller);
      if (line.length > 0) this.#lines.set(caller, line);
      this.#length--;
      return item;
    }
    return undefined;
  }

  /** Removes an item before its turn; false when it is no longer waiting. */
  remove(caller: string, item: Item): boolean {
    const line = this.#lines.get(caller) ?? [];
    const at = line.indexOf(item);
    if (at < 0) return false;
    line.splice(at, 1);
    if (line.length === 0) this.#lines.delete(caller);
    this.#length--;
    return true;
  }
}
