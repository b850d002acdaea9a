import { availableParallelism } from "node:os";
import { AppError } from "@signalbox/core";

export interface JobSlots {
  /** Runs `work` when a slot is free. Throws `unavailable` at once when too much is waiting already. */
  run<T>(cost: number, work: () => Promise<T>): Promise<T>;
  /** Counts what is running and waiting, by number and by cost. */
  load(): { running: number; waiting: number; waitingCost: number };
}

interface JobSlotsOptions {
  /** One per core: more makes every image slower and none faster. */
  readonly slots?: number;
  /** The most cost that may wait, in CPU milliseconds: how long the last in line waits, times the slots. */
  readonly waitingCostMax: number;
}

interface Waiting {
  readonly cost: number;
  readonly start: () => void;
}

/** Bounds image work by what it costs, not by how many ask: one panorama can cost as much as a thousand thumbnails. */
export function createJobSlots({ slots = availableParallelism(), waitingCostMax }: JobSlotsOptions): JobSlots {
  const waiting: Waiting[] = [];
  let running = 0;
  let waitingCost = 0;

  function next(): void {
    running--;
    const first = waiting.shift();
    if (!first) return;
    waitingCost -= first.cost;
    first.start();
  }

  function enter(cost: number): Promise<void> {
    if (running < slots) {
      running++;
      return Promise.resolve();
    }
    // A job that is dearer than the whole line is still let in when nothing waits, or it could never run.
    if (waitingCost > 0 && waitingCost + cost > waitingCostMax) {
      const retryAfterSeconds = Math.max(1, Math.ceil(waitingCost / slots / 1000));
      throw new AppError("unavailable", "Too many images are being made right now.", { retryAfterSeconds });
    }
    waitingCost += cost;
    return new Promise((resolve) => {
      const start = () => {
        running++;
        resolve();
      };
      waiting.push({ cost, start });
    });
  }

  return {
    async run(cost, work) {
      await enter(cost);
      try {
        return await work();
      } finally {
        next();
      }
    },
    load: () => ({ running, waiting: waiting.length, waitingCost }),
  };
}
