import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable, seconds, systemClock } from "@signalbox/core";
import type { S3Connection } from "./s3-connection.ts";

const triesMax = 3;
/** A server that took longer to fail is not busy for a moment, and a caller waits a few seconds at most. */
const beginWithinMs = seconds(3);
const pauseMs = 150;

/**
 * Repeats work that may be done twice when the object store was briefly busy or broken: three tries in all, with random
 * pauses so that many callers do not return together.
 */
export async function repeatBriefly<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const startedMs = systemClock.steadyMs();
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const isLate = systemClock.steadyMs() - startedMs > beginWithinMs;
      if (tries >= triesMax || isLate || signal?.aborted || !isUnavailable(error)) throw error;
      await sleep(pauseMs * tries * (0.5 + Math.random()), undefined, signal && { signal });
    }
  }
}

/** Repeats every request except an upload, whose source may be a stream that can be sent only once. */
export function withRetries(connection: S3Connection): S3Connection {
  return {
    ...connection,
    send: (request, ask) => {
      const send = () => connection.send(request, ask);
      return request.method === "PUT" ? send() : repeatBriefly(send, request.signal);
    },
  };
}
