import { systemClock } from "@signalbox/core";
import { type EventLog, openEventLog } from "@signalbox/events";
import { eventsProperties, topicsProperties } from "@signalbox/events/properties";
import type { Configuration } from "@signalbox/runtime";
import { eventsDatabase } from "../embedded/embedded-defaults.ts";
import { commandTelemetry, withEngineUrl } from "./engine-url.ts";

/** Opens the event log of `events.url` for a command. */
export async function withEventLog<T>(
  argv: readonly string[],
  work: (eventLog: EventLog, configuration: Configuration<typeof topicsProperties>) => Promise<T>,
): Promise<T> {
  const engine = {
    service: "commands",
    properties: { ...eventsProperties, ...topicsProperties },
    name: "events.url",
    database: eventsDatabase,
  } as const;
  return withEngineUrl(argv, engine, async (url, configuration) => {
    const context = { clientId: "signalbox-commands", clock: systemClock, ...commandTelemetry() };
    const eventLog = await openEventLog(url, context);
    try {
      return await work(eventLog, configuration as Configuration<typeof topicsProperties>);
    } finally {
      await eventLog.close();
    }
  });
}
