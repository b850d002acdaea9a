import { openAccessStates } from "@signalbox/auth";
import { topics } from "@signalbox/contracts";
import { systemClock } from "@signalbox/core";
import { openEventLog } from "@signalbox/events";
import type { ImagePool } from "@signalbox/imaging";
import type { ProcessHealth, ProcessRunner } from "@signalbox/runtime";
import { createTracer, type Logger, type Metrics } from "@signalbox/runtime";
import { createOverrideCopy, openOverrides, type SharedParts } from "@signalbox/service";
import { createRateLimiters } from "@signalbox/storage";

interface Process {
  readonly url: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly runner: ProcessRunner;
  readonly health: ProcessHealth;
  /** Folder and sealing keys of the last run's overrides, and the time that the log has before they are used. */
  readonly overrides: { readonly directory: string; readonly keys: readonly string[]; readonly waitMs: number };
  /** Being opened since before the database: its first process starts while the code is read. */
  readonly imagePool: Promise<ImagePool>;
}

/** The shared parts, and the child processes that the images service and the image worker share. */
export interface EmbeddedParts extends SharedParts {
  readonly imagePool: ImagePool;
}

/** One event log, one reader of access, one of configuration, one count of requests and one pool for images (DESIGN §3). */
export async function openSharedParts({
  url,
  overrides: kept,
  imagePool: openingPool,
  ...process
}: Process): Promise<EmbeddedParts> {
  const service = "embedded";
  const common = { service, instance: service, ...process };
  const parts = { ...common, clock: systemClock, tracer: createTracer(service) };
  const eventLog = await openEventLog(url, { ...parts, clientId: service });
  // In one process nobody else creates the topics; on Kafka `npm run topics` does.
  const problems = await eventLog.ensureTopics(topics);
  if (problems.length > 0) throw new Error(problems.map(({ topic, problem }) => `${topic}: ${problem}`).join("; "));
  const { waitMs, ...place } = kept;
  const copy = createOverrideCopy({ service, ...place });
  const [accessStates, overrides, imagePool] = await Promise.all([
    openAccessStates({ ...parts, eventLog }),
    openOverrides(parts, eventLog, { copy, waitMs }),
    openingPool,
  ]);
  return { eventLog, accessStates, overrides, imagePool, limiters: createRateLimiters(systemClock) };
}
