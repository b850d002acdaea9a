import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../journey/client.ts";

/** Requests of one account. */
export interface Load {
  /** Concurrent requests. */
  readonly lanes: number;
  /** Number of requests in all; without it they go on until the load is disposed. */
  readonly times?: number;
  readonly request: (at: number) => Promise<Answer>;
}

/** A refused client of ours waits this long, so that the load is that of the system and not of its clients. */
const refusedMs = 100;

/** Keeps the load up until it is disposed. A request without an answer is a part of the load. */
export function keepUp({ lanes, times = Number.POSITIVE_INFINITY, request }: Load): AsyncDisposable {
  let at = 0;
  let isOver = false;
  const lane = async (): Promise<void> => {
    while (!isOver && at < times) {
      const answer = await request(at++).catch(() => null);
      if (answer === null || answer.status >= 400) await sleep(refusedMs);
    }
  };
  const all = Promise.all(Array.from({ length: lanes }, lane));
  return {
    async [Symbol.asyncDispose]() {
      isOver = true;
      await all;
    },
  };
}
