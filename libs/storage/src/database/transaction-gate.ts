import { rowBusy, tooBusy } from "./errors.ts";

/** Decides how many transactions have a connection at once, in all and for one key. */
export interface TransactionGate {
  /** Waits for its turn; the caller leaves when the transaction has ended. */
  enter(key: string | undefined): Promise<Place>;
}

/** A turn at the gate. */
interface Place {
  /** `isRowBusy`: the transaction gave up waiting for somebody's row. Those of its key that wait would do the same. */
  leave(isRowBusy: boolean): void;
}

interface GateOptions {
  /** Transactions at once. Fewer than the pool has connections, so that reads always find one. */
  readonly max: number;
  readonly waitingMax: number;
  /** How long one waits for its turn. */
  readonly waitMs: number;
}

interface Waiting {
  readonly key: string | undefined;
  readonly place: PromiseWithResolvers<Place>;
  readonly timer: NodeJS.Timeout;
}

/**
 * Transactions of one key wait for each other in memory, where they keep no connection from anybody. In PostgreSQL the
 * second to wait for a row would also begin to count its `lock_timeout` anew when the first one gives up.
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
        for (const one of likewise) refuse(one, rowBusy("somebody of the same key gave up"));
        admit();
      },
    };
  }

  /** Lets in whoever may, the longest waiting first. */
  function admit(): void {
    for (const one of waiting) {
      if (total >= max) return;
      if (!hasRoom(one.key)) continue;
      forget(one);
      one.place.resolve(take(one.key));
    }
  }

  function tooLate(): Error {
    return total < max ? rowBusy("its key was taken all the time") : tooBusy("all transactions were taken");
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
