import { seconds, setSystemClock, systemClock } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import type { Logger, Metrics } from "@signalbox/telemetry";
import { type ConnectOptions, connectWhenThere } from "../migrations/connect-when-there.ts";
import type { Pool } from "./pool.ts";

/** A later answer says too little about the moment it was given. */
const wayMsMax = seconds(1);
const measureEveryMs = seconds(30);
const statement = "select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms";

interface Asked {
  query(statement: string): Promise<{ readonly rows: readonly { readonly ms: number }[] }>;
}

/**
 * Sets the time of this process by its database, before anything reads it: instances of a service then agree, whatever
 * the clocks of their machines say. Waits for the database as migrations do.
 */
export async function startByDatabaseClock(options: ConnectOptions): Promise<void> {
  const client = await connectWhenThere(options);
  try {
    await measure(client, options.log);
  } finally {
    await client.end();
  }
}

interface FollowClock {
  readonly pool: Pool;
  readonly runner: Pick<Runner, "housekeeping">;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Measures the machine's clock against the database's every half minute, and corrects it from a second on. */
export function followDatabaseClock({ pool, runner, metrics, log }: FollowClock): void {
  metrics.gauge("signalbox_clock_offset_seconds", (gauge) => gauge.set({}, lastOffsetMs / 1000));
  runner.housekeeping("clock", measureEveryMs, () => measure(pool.driver, log));
}

let lastOffsetMs = 0;

async function measure(client: Asked, log: Logger): Promise<void> {
  const askedMs = systemClock.steadyMs();
  const { rows } = await client.query(statement);
  const wayMs = systemClock.steadyMs() - askedMs;
  const [answer] = rows;
  if (answer === undefined || wayMs > wayMsMax) return;
  const { offsetMs, isNews } = setSystemClock(answer.ms + wayMs / 2);
  lastOffsetMs = offsetMs;
  if (isNews)
    log.warn({ offsetSeconds: offsetMs / 1000 }, "the machine's clock is wrong; the time of the database is used");
}
