import { rowBusy, tooBusy } from "./errors.ts";

/** Limits the number of transactions that have a connection, in total and per key. */
export interface TransactionGate {
  /** Waits for its turn; the caller leaves when the transaction has ended. */
  enter(key: string | undefined): Promise<Place>;
}

/** A place of a transaction that was admitted. */
interface Place {
  /** `isRowBusy`: the transaction gave up waiting for a row; waiting ones of the same key would do the same. */
  leave(isRowBusy: boolean): void;
}

interface GateOptions {
  /** Maximum number of concurrent transactions. Fewer than the pool has connections, so that reads always find one. */
  readonly max: number;
  readonly waitingMax: number;
  /** Time that a transaction waits for its turn. */
  readonly waitMs: number;
}

interface Waiting {
  readonly key: string | undefined;
  readonly place: PromiseWithResolvers<Place>;
  readonly timer: NodeJS.Timeout;
}

/**
 * Makes transactions of one key wait for each other in memory, where they hold no connection. In PostgreSQL the second
 * waiter for a row would also restart its `lock_timeout` when the first one gives up.
 */
export function createTransactionGate({ max, waitingMax, waitMs }: GateOptions): TransactionGate {
  const underWay = new Set<string>();
  let waiting: Waiting[] = [];
  let total = 0;

  return {
    async enter(key) {
      if (hasRoom(key)) return take(key);
      if (waiting.length >= waitingMax) throw tooBusy(`${waiting.length} transactions already wait`);
      const place = Promise.withResolvers<Place>();
      const one: Waiting = { key, place, timer: setTimeout(() => refuse(one, tooLate()), waitMs) };
      waiting.push(one);
      return place.promise;
    },
  };

  function hasRoom(key: string | undefined): boolean {
    return total < max && (key === undefined || !underWay.has(key));
  }

  function take(key: string | undefined): Place {
    total++;
    if (key !== undefined) underWay.add(key);
    return {
      leave(isRowBusy) {
        total--;
        if (key !== undefined) underWay.delete(key);
        const likewise = isRowBusy && key !== undefined ? waiting.filter((one) => one.key === key) : [];
        for (const one of likewise) refuse(one, rowBusy("a transaction of the same key gave up"));
        admit();
      },
    };
  }

  /** Admits transactions that may start, the longest waiting first. */
  function admit(): void {
    for (const one of waiting) {
      if (total >= max) return;
      if (!hasRoom(one.key)) continue;
      forget(one);
      one.place.resolve(take(one.key));
    }
  }

  function tooLate(): Error {
    return total < max ? rowBusy("its key stayed taken") : tooBusy("all places stayed taken");
  }

  function refuse(one: Waiting, error: Error): void {
    forget(one);
    one.place.reject(error);
  }

  function forget(one: Waiting): void {
    clearTimeout(one.timer);
    waiting = waiting.filter((other) => other !== one);
  }
}
