import { type Clock, seconds, setSystemClock, systemClock } from "@signalbox/core";
import { createRoutes, ok, type Routes } from "@signalbox/http";
import type { Configuration, Logger, Metrics, Runner } from "@signalbox/runtime";
import { connectWhenThere, type Pool, sql } from "@signalbox/storage";
import type { databaseProperties } from "@signalbox/storage/properties";
import { z } from "zod";

const everyMs = seconds(30);
/** A later answer says too little about the moment it was given. */
const wayMsMax = seconds(1);
const clockPath = "/clock";
const Time = z.object({ now_ms: z.number().describe("Milliseconds since the epoch.") });
const nowMs = sql("clock.now", "select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms");

interface DatabaseContext {
  readonly configuration: Configuration<typeof databaseProperties>;
  readonly log: Logger;
}

/** Asks for the true time, in milliseconds since the epoch. */
type Ask = () => Promise<number>;

/**
 * Sets the time of this process by its database, before anything reads it: instances of a service then agree, whatever
 * the clocks of their machines say. Waits for the database as migrations do.
 */
export async function startByDatabaseClock({ configuration, log }: DatabaseContext): Promise<void> {
  const [url, waitMs] = [configuration.get("database.url"), configuration.get("database.start-wait")];
  const client = await connectWhenThere({ url, waitMs, log });
  try {
    await measure(async () => (await client.query<{ ms: number }>(nowMs.text)).rows[0]?.ms ?? Number.NaN, log);
  } finally {
    await client.end();
  }
}

interface Follow {
  readonly runner: Runner;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Measures the machine's clock against the database's every half minute, and corrects it from a second on. */
export function followDatabaseClock({ pool, ...parts }: Follow & { readonly pool: Pool }): void {
  follow(parts, async () => (await pool.query<{ ms: number }>(nowMs)).rows[0]?.ms ?? Number.NaN);
}

/** A client of the internal listener of a service. */
interface ServiceClient {
  get(path: string): Promise<{ readonly status: number; readonly body: Buffer }>;
}

/** Does the same by the time of a service, for a process without a database. An absent service changes nothing. */
export function followServiceClock({ client, ...parts }: Follow & { readonly client: ServiceClient }): void {
  follow(parts, async () => {
    const answer = await client.get(clockPath).catch(() => null);
    return answer?.status === 200 ? Time.parse(JSON.parse(answer.body.toString("utf8"))).now_ms : Number.NaN;
  });
}

/** Creates the internal route that tells the time of a service. */
export function clockRoutes(clock: Clock): Routes {
  const routes = createRoutes();
  routes.get(clockPath, {
    summary: "The time of this service",
    auth: "anonymous",
    responses: { 200: Time },
    handle: async () => ok({ now_ms: clock.nowMs() }),
  });
  return routes;
}

let lastOffsetMs = 0;

function follow({ runner, metrics, log }: Follow, ask: Ask): void {
  metrics.gauge("signalbox_clock_offset_seconds", (gauge) => gauge.set({}, lastOffsetMs / 1000));
  runner.housekeeping("clock", everyMs, () => measure(ask, log));
}

async function measure(ask: Ask, log: Logger): Promise<void> {
  const askedMs = systemClock.steadyMs();
  const answeredMs = await ask();
  const wayMs = systemClock.steadyMs() - askedMs;
  if (Number.isNaN(answeredMs) || wayMs > wayMsMax) return;
  const { offsetMs, isNews } = setSystemClock(answeredMs + wayMs / 2);
  lastOffsetMs = offsetMs;
  if (isNews)
    log.warn({ offsetSeconds: offsetMs / 1000 }, "the machine's clock is wrong; using the service's own clock");
}
