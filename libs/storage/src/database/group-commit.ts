import { type Clock, isUnavailable } from "@signalbox/core";
import { isUndone, tooBusy } from "./errors.ts";

export interface GroupCommitOptions<Item, Outcome> {
  /** Writes a batch with one commit, whole or not at all; returns the outcome of each item, in their order. */
  readonly write: (batch: readonly Item[]) => Promise<readonly Outcome[]>;
  readonly clock: Clock;
  /** Largest sum of sizes in a batch. A larger item has a batch of its own. */
  readonly sizeMax: number;
  /** Default: each item is 1. */
  readonly sizeOf?: (item: Item) => number;
  /** Whose items take turns with those of others, such as the account. Default: all are of one owner. */
  readonly ownerOf?: (item: Item) => string;
  /** Items that share a key are never in the same batch. */
  readonly keysOf?: (item: Item) => readonly string[];
  /** Largest sum of the sizes of waiting items; more are refused. One owner may have half of it. Default: no bound. */
  readonly waitingMax?: number;
  /** Time after which an item that still waits is refused. Default: never. */
  readonly waitMs?: number;
  /** Maximum number of batches at the same time. */
  readonly batchesMax: number;
  /** Time between the starts of two batches that are not full. Default 0. */
  readonly apartMs?: number;
}

interface Waiting<Item, Outcome> {
  readonly item: Item;
  readonly size: number;
  readonly keys: readonly string[];
  readonly answer: PromiseWithResolvers<Outcome>;
  readonly timer: NodeJS.Timeout | undefined;
}

/** The waiting items of one owner. */
interface Line<Item, Outcome> {
  readonly items: Waiting<Item, Outcome>[];
  size: number;
}

/** A batch that takes longer waits for a lock, and no longer holds up those after it. */
const stalledMs = 25;

/**
 * Lets writes that meet share a commit: those that arrive in one turn of the event loop, or while a batch is written, go
 * together, so that a write gets cheaper with load, and an idle process waits for nothing. Owners take turns, and the
 * items of one owner keep their order. A batch that fails is halved until the fault is alone, so that each item gets its
 * own error; while the database is away all are refused, because their outcome may be unknown.
 */
export class GroupCommit<Item, Outcome> {
  readonly #options: GroupCommitOptions<Item, Outcome>;
  /** By owner; the first one's turn is next. */
  readonly #lines = new Map<string, Line<Item, Outcome>>();
  #waitingSize = 0;
  #running = 0;
  #isDue = false;
  #lastStartMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: GroupCommitOptions<Item, Outcome>) {
    this.#options = options;
  }

  /**
   * Resolves with the outcome of the item once its batch is committed.
   * @throws AppError `unavailable` when too many wait, or it waited too long, and nothing was written
   */
  add(item: Item): Promise<Outcome> {
    const { ownerOf, sizeOf, keysOf, waitMs, waitingMax = Number.POSITIVE_INFINITY } = this.#options;
    const owner = ownerOf?.(item) ?? "";
    const line = this.#lines.get(owner) ?? { size: 0, items: [] };
    const ownMax = ownerOf ? waitingMax / 2 : waitingMax;
    if (this.#waitingSize >= waitingMax || line.size >= ownMax)
      return Promise.reject(tooBusy(`writes of size ${this.#waitingSize} wait, ${line.size} of this owner`));
    const answer = Promise.withResolvers<Outcome>();
    const timer = waitMs === undefined ? undefined : setTimeout(() => this.#refuse(owner, waiting), waitMs);
    const waiting = { item, size: sizeOf?.(item) ?? 1, keys: keysOf?.(item) ?? [], answer, timer };
    line.items.push(waiting);
    line.size += waiting.size;
    this.#waitingSize += waiting.size;
    this.#lines.set(owner, line);
    this.#startSoon();
    return answer.promise;
  }

  #startSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#startDue();
    });
  }

  #startDue(): void {
    const { sizeMax, batchesMax } = this.#options;
    while (this.#lines.size > 0 && this.#running < batchesMax) {
      const waitMs = this.#waitingSize >= sizeMax ? 0 : this.#msToNext();
      if (waitMs > 0) {
        this.#timer ??= setTimeout(() => this.#onTimer(), Math.ceil(waitMs));
        return;
      }
      this.#start(this.#nextBatch());
    }
  }

  /** Returns the milliseconds for which a batch that is not full still waits for more items. */
  #msToNext(): number {
    const { clock, apartMs = 0 } = this.#options;
    return this.#lastStartMs + (this.#running === 0 ? apartMs : stalledMs) - clock.steadyMs();
  }

  #onTimer(): void {
    this.#timer = null;
    this.#startDue();
  }

  /** Takes one item of each owner in turn. An owner whose items must wait for the next batch keeps its place. */
  #nextBatch(): Waiting<Item, Outcome>[] {
    const batch: Waiting<Item, Outcome>[] = [];
    const taken = new Set<string>();
    let size = 0;
    // A line that is set again comes once more at the end of this walk.
    for (const [owner, line] of this.#lines) {
      const place = line.items.findIndex(({ keys }) => keys.every((key) => !taken.has(key)));
      const next = line.items[place];
      if (next === undefined) continue;
      if (batch.length > 0 && size + next.size > this.#options.sizeMax) break;
      this.#take(owner, line, place);
      for (const key of next.keys) taken.add(key);
      size += next.size;
      batch.push(next);
    }
    return batch;
  }

  /** Takes an item out of its line, whose next turn comes after those of all others. */
  #take(owner: string, line: Line<Item, Outcome>, place: number): void {
    const [{ size, timer }] = line.items.splice(place, 1) as [Waiting<Item, Outcome>];
    clearTimeout(timer);
    line.size -= size;
    this.#waitingSize -= size;
    this.#lines.delete(owner);
    if (line.items.length > 0) this.#lines.set(owner, line);
  }

  #refuse(owner: string, waiting: Waiting<Item, Outcome>): void {
    const line = this.#lines.get(owner);
    if (line) this.#take(owner, line, line.items.indexOf(waiting));
    waiting.answer.reject(tooBusy("a write waited too long for its batch"));
  }

  #start(batch: readonly Waiting<Item, Outcome>[]): void {
    this.#running++;
    this.#lastStartMs = this.#options.clock.steadyMs();
    void this.#write(batch).finally(() => {
      this.#running--;
      this.#startDue();
    });
  }

  async #write(batch: readonly Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await this.#options.write(batch.map(({ item }) => item));
      for (const [index, { answer }] of batch.entries()) answer.resolve(outcomes[index] as Outcome);
    } catch (error) {
      const isKnown = isUndone(error) || !isUnavailable(error);
      if (batch.length === 1 || !isKnown) for (const { answer } of batch) answer.reject(error);
      else {
        const middle = Math.ceil(batch.length / 2);
        await this.#write(batch.slice(0, middle));
        await this.#write(batch.slice(middle));
      }
    }
  }
}
