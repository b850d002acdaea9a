import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { MiB, seconds } from "@signalbox/core";
import { createInternalClient } from "@signalbox/net";
import type { Logger, Metrics, Runner } from "@signalbox/runtime";

export interface WatchedDependencies {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly runner: Runner;
}

interface WatchedSource extends WatchedDependencies {
  readonly name: string;
  /** A path, or a URL of `file:`, `http:` or `https:`. */
  readonly location: string;
}

const pauseMs = seconds(2);
const deadlineMs = seconds(10);
const bytesMax = 16 * MiB;

/**
 * Applies an external text, and applies it again after each change. The first one must be valid. A later one that is
 * refused, or cannot be read, leaves the last valid one active, and is reported by a metric.
 *
 * @throws Error when the first text cannot be read or is refused.
 */
export async function watchSource(
  { name, location, log, metrics, runner }: WatchedSource,
  apply: (text: string) => Promise<void>,
): Promise<void> {
  const { read, close } = readerOf(location);
  runner.defer(name, close);
  const failures = metrics.counter("signalbox_graphql_reload_failures_total");
  failures.inc({ source: name }, 0);
  const outage = log.outage("A watched source");
  let seen = await read();
  await apply(seen);
  runner.every(name, pauseMs, async () => {
    const text = await read().catch((error: unknown) => {
      failures.inc({ source: name });
      outage.failed(name, error);
    });
    if (text === undefined) return;
    outage.passed(name);
    if (text === seen) return;
    // Includes a refused text: it is tried once and not every two seconds.
    seen = text;
    try {
      await apply(text);
      log.info({ source: name }, "a changed source is active");
    } catch (error) {
      failures.inc({ source: name });
      log.warn({ error, source: name }, "a changed source was rejected; the last valid one stays active");
    }
  });
}

function readerOf(location: string): { read: () => Promise<string>; close: () => unknown } {
  if (!/^https?:/.test(location)) {
    const path = location.startsWith("file:") ? fileURLToPath(location) : location;
    return { read: () => readFile(path, "utf8"), close() {} };
  }
  const { origin, pathname, search } = new URL(location);
  const client = createInternalClient({ url: origin, headers: () => ({}), deadlineMs, responseBytesMax: bytesMax });
  return {
    async read() {
      const { status, body } = await client.get(pathname + search);
      if (status === 200) return body.toString("utf8");
      throw new Error(`${origin} answered ${status}`);
    },
    close: () => client.close(),
  };
}
