import { createOutbox } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";
import { databaseOptions, openPool } from "@signalbox/storage";
import { createMetrics } from "@signalbox/telemetry";
import type { Properties } from "./properties.ts";
import { createVerbs } from "./verbs.ts";

type Context = Pick<ServiceContext<Properties>, "service" | "configuration" | "log" | "tracer" | "clock">;

/**
 * Makes the key that a new house starts with, in a database that the service has migrated. Its events leave through
 * the running service's relay. Each call makes another key, so whoever calls keeps the answer.
 */
export async function createFirstKey(context: Context): Promise<string> {
  const { service, configuration, log, tracer, clock } = context;
  const closes: (() => unknown)[] = [];
  const runner = { defer: (_name: string, close: () => unknown) => void closes.push(close) };
  // Nobody scrapes them: this is over in a moment.
  const metrics = createMetrics({ service });
  const options = { ...databaseOptions(configuration), max: 2, applicationName: "signalbox-first-key" };
  const pool = openPool({ ...options, log, metrics, runner });
  try {
    const maxBytes = configuration.get("events.message.max-bytes");
    const outbox = createOutbox({ pool, service, log, metrics, clock, tracer, maxBytes });
    return await createVerbs({ configuration, log, clock, metrics }, pool, outbox).createFirstKey();
  } finally {
    for (const close of closes.reverse()) await close();
  }
}
