import { setImmediate as endOfTurn } from "node:timers/promises";
import { changedKeys, type Part, sendCombined, shapeOf } from "./combined-statement.ts";
import { isUndone, tooBusy } from "./errors.ts";
import type { Queryable, Rows } from "./prepared-statement.ts";

/** Queue of single-statement transactions. */
export interface WriteQueue {
  /**
   * Commits the parts and returns their answers. Null when a row to change differs from what was read or is locked.
   * Nothing is written then, nor when it rejects with a database error.
   */
  add(parts: readonly Part[]): Promise<Rows<unknown>[] | null>;
}

interface Write {
  readonly parts: readonly Part[];
  /** Writes of the same shape can share a statement. */
  readonly shape: string | null;
  /** Writes that change the same row cannot share one. */
  readonly keys: readonly string[];
  readonly answer: PromiseWithResolvers<Rows<unknown>[] | null>;
}

/** Powers of two, so that few texts have to be prepared. */
const batchSizes = [32, 16, 8, 4, 2, 1];
/**
 * Number of pending batches from which the next writes are collected: two batches of half the size take longer than
 * one.
 */
const underWayMax = 1;
/** A batch that takes longer is waiting for a locked row, and no longer holds up the others. */
const batchWaitMs = 50;

/**
 * Combines writes: all that arrive in one turn of the event loop, or while a batch is pending, share one statement and one
 * commit, so a write gets cheaper with load. A single write does not wait. When another transaction has locked a row,
 * the batch has written nothing, and is sent again without the writes of that row. When the server reports an error,
 * the batch has written nothing either, and its writes are sent one by one so that each gets its own answer. After any
 * other failure the outcome is unknown, and nothing is sent again. Writes beyond `waitingMax` are refused.
 */
export function createWriteQueue(database: Queryable, waitingMax: number): WriteQueue {
  let waiting: Write[] = [];
  let underWay = 0;
  let isDue = false;

  return {
    add(parts) {
      if (waiting.length >= waitingMax) return Promise.reject(tooBusy(`${waiting.length} writes already wait`));
      const answer = Promise.withResolvers<Rows<unknown>[] | null>();
      const write = { parts, shape: shapeOf(parts), keys: changedKeys(parts), answer };
      waiting.push(write);
      if (!isDue && underWay < underWayMax) {
        isDue = true;
        void endOfTurn().then(sendDue);
      }
      return write.answer.promise;
    },
  };

  function sendDue(): void {
    isDue = false;
    while (underWay < underWayMax && waiting.length > 0) void sendNext(nextBatch());
  }

  function nextBatch(): Write[] {
    const alike = combinable(waiting);
    const batch = new Set(alike.slice(0, sizeFor(alike.length)));
    waiting = waiting.filter((write) => !batch.has(write));
    return [...batch];
  }

  async function sendNext(batch: readonly Write[]): Promise<void> {
    let isCounted = true;
    const sendOn = () => {
      if (isCounted) underWay--;
      isCounted = false;
      sendDue();
    };
    underWay++;
    const timer = setTimeout(sendOn, batchWaitMs);
    await send(batch);
    clearTimeout(timer);
    sendOn();
  }

  async function send(batch: readonly Write[]): Promise<void> {
    try {
      const outcomes = await sendCombined(
        database,
        batch.map(({ parts }) => parts),
      );
      const others = batch.filter((write, index) => {
        const outcome = outcomes[index];
        if (outcome && "unwritten" in outcome && outcome.unwritten === "held") return true;
        write.answer.resolve(outcome && "written" in outcome ? outcome.written : null);
        return false;
      });
      await Promise.all(inBatches(others).map(send));
    } catch (error) {
      if (batch.length > 1 && isUndone(error)) await Promise.all(batch.map((write) => send([write])));
      else for (const { answer } of batch) answer.reject(error);
    }
  }
}

/** Returns the first write and those that can share a statement with it. */
function combinable(writes: readonly Write[]): Write[] {
  const [first, ...others] = writes as [Write, ...Write[]];
  if (first.shape === null) return [first];
  const taken = new Set(first.keys);
  const alike = others.filter(({ shape, keys }) => {
    if (shape !== first.shape || keys.some((key) => taken.has(key))) return false;
    for (const key of keys) taken.add(key);
    return true;
  });
  return [first, ...alike];
}

function inBatches(writes: readonly Write[]): Write[][] {
  if (writes.length === 0) return [];
  const size = sizeFor(writes.length);
  return [writes.slice(0, size), ...inBatches(writes.slice(size))];
}

const sizeFor = (count: number): number => batchSizes.find((size) => size <= count) ?? 1;
