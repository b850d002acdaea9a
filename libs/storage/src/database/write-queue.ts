import { setImmediate as endOfTurn } from "node:timers/promises";
import { isUndone, tooBusy } from "./errors.ts";
import { type Part, sendJoined, shapeOf } from "./joined-statement.ts";
import type { Queryable, Rows } from "./statement.ts";

/** Transactions of one statement each, on their way to the database. */
export interface WriteQueue {
  /** Commits the parts and gives their answers; nothing is written when it rejects with an error of the database. */
  add(parts: readonly Part[]): Promise<Rows<unknown>[]>;
}

interface Write {
  readonly parts: readonly Part[];
  /** Writes of the same shape can share a statement. */
  readonly shape: string | null;
  readonly answer: PromiseWithResolvers<Rows<unknown>[]>;
}

/** Powers of two, so that few texts have to be prepared. */
const batchSizes = [32, 16, 8, 4, 2, 1];
/** Batches under way before the next writes wait for each other's company: two of half the size take longer than one. */
const underWayMax = 1;
/** A batch that takes longer waits for somebody's row, and keeps the others no more. */
const patienceMs = 50;

/**
 * What is asked for in one turn of the event loop, or while a batch is under way, is written as one statement with one
 * commit: the busier the service, the less a write costs. Alone nobody waits. A batch in which the server finds anything
 * wrong has written nothing, and is sent one by one so that each gets its own answer; after any other failure nobody knows
 * what was written, and nothing is sent again. More than `waitingMax` are refused.
 */
export function createWriteQueue(database: Queryable, waitingMax: number): WriteQueue {
  let waiting: Write[] = [];
  let underWay = 0;
  let isDue = false;

  return {
    add(parts) {
      if (waiting.length >= waitingMax) return Promise.reject(tooBusy(`${waiting.length} writes already wait`));
      const write = { parts, shape: shapeOf(parts), answer: Promise.withResolvers<Rows<unknown>[]>() };
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
    const [first, ...others] = waiting as [Write, ...Write[]];
    const alike = first.shape === null ? [first] : [first, ...others.filter(({ shape }) => shape === first.shape)];
    const size = batchSizes.find((one) => one <= alike.length);
    const batch = new Set(alike.slice(0, size));
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
      const answers = await sendJoined(
        database,
        batch.map(({ parts }) => parts),
      );
      batch.forEach(({ answer }, index) => void answer.resolve(answers[index] as Rows<unknown>[]));
    } catch (error) {
      if (batch.length > 1 && isUndone(error)) await Promise.all(batch.map((write) => send([write])));
      else for (const { answer } of batch) answer.reject(error);
    }
  }
}
