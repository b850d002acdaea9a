import type { Writable } from "node:stream";

/** Waits until the client has taken what was written, has gone, or `waitMsMax` have passed. */
export async function untilDrained(response: Writable, waitMsMax?: number): Promise<void> {
  if (!response.writableNeedDrain || response.closed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = waitMsMax === undefined ? undefined : setTimeout(resolve, waitMsMax);
  response.on("drain", resolve).on("close", resolve);
  await promise;
  clearTimeout(timer);
  response.off("drain", resolve).off("close", resolve);
}
