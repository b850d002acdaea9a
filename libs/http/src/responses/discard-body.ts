import type { IncomingMessage } from "node:http";
import { MiB, seconds } from "@signalbox/core";

/** What we are ready to throw away so that a client which is still sending gets to read its refusal. */
const discardBytesMax = 16 * MiB;
const discardMs = seconds(5);

/**
 * Reads the rest of a body into nothing. Closing at once would reset the connection, and the refusal in flight would be
 * lost with it; reading without bound would let anyone keep us busy.
 */
export function discardBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let bytes = 0;
    const done = (): void => {
      clearTimeout(timer);
      request.off("data", onData).off("end", done).off("close", done).off("error", done);
      resolve();
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > discardBytesMax) done();
    };
    const timer = setTimeout(done, discardMs);
    request.unpipe();
    request.on("data", onData).on("end", done).on("close", done).on("error", done);
    request.resume();
  });
}
