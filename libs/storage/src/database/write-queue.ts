import { setImmediate as endOfTurn } from "node:timers/promises";
import { isUndone, tooBusy } from "./errors.ts";
import { changedKeys, type Part, sendJoined, shapeOf } from "./joined-statement.ts";
import type { Queryable, Rows } from "./statement.ts";

/** Transactions of one statement each, on their way to the database. */
export interface WriteQueue {
  /**
   * Commits the parts and gives their answers. Null when a row to change is not as it was read or somebody else has it.
   * Nothing is written then, nor when it rejects with an error of the database.
   */
  add(parts: readonly Part[]): Promise<Rows<unknown>[] | null>;
}

interface Write {
  readonly parts: readonly Part[];
  /** Writes of the same shape can share a statement. */
  readonly shape: string | null;
  /** Writes that change the same row cannot. */
  readonly keys: readonly string[];
  readonly answer: PromiseWithResolvers<Rows<unknown>[] | null>;
}

/** Powers of two, so that few texts have to be prepared. */
const batchSizes = [32, 16, 8, 4, 2, 1];
/** Batches under way before the next writes wait for each other's company: two of half the size take longer than one. */
const underWayMax = 1;
/** A batch that takes longer waits for somebody's row, and keeps the others no more. */
const patienceMs = 50;

/**
 * What is asked for in one turn of the event loop, or while a batch is under way, is written as one statement with one
 * commit: the busier the service, the less a write costs. Alone nobody waits. A batch of which somebody else has a row has
 * written nothing, and is sent again without whoever wanted that row. One in which the server finds anything wrong has
 * written nothing either, and is sent one by one so that each gets its own answer. After any other failure nobody knows what
 * was written, and nothing is sent again. More than `waitingMax` are refused.
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
    const alike = joinable(waiting);
    const batch = new Set(alike.slice(0, sizeFor(alike.length)));
    waiting = waiting.filter((write) => !batch.has(write));
    return [...batch];
  }

  async function sendNext(batch: readonly Write[]): Promise<void> {
    let isCounted = true;
    const goOn = () => {
      if (isCounted) underWay--;
      isCounted = false;
      sendDue();
    };
    underWay++;
    const patience = setTimeout(goOn, patienceMs);
    await send(batch);
    clearTimeout(patience);
    goOn();
  }

  async function send(batch: readonly Write[]): Promise<void> {
    try {
      const outcomes = await sendJoined(
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

/** The first of the writes and those that can share a statement with it. */
function joinable(writes: readonly Write[]): Write[] {
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
