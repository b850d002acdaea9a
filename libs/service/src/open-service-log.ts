import { setTimeout as sleep } from "node:timers/promises";
import { topics } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import { type EventLog, type eventsProperties, openEventLog } from "@signalbox/events";
import type { runtimeProperties, ServiceContext } from "@signalbox/runtime";
import type { SharedParts } from "./shared-parts.ts";

type Context = ServiceContext<typeof eventsProperties & typeof runtimeProperties> & SharedParts;

/** Opens the event log under this service's name. An unavailable log is no reason to be unready: its work waits. */
export async function openServiceLog(context: Context): Promise<EventLog> {
  if (context.eventLog) return context.eventLog;
  const { configuration, service, log, metrics, clock, runner, tracer } = context;
  const baseUrl = configuration.get("http.base-url");
  const parts = { clientId: service, log, metrics, clock, runner, tracer, baseUrl };
  const eventLog = await openEventLog(configuration.get("events.url"), parts);
  void warnOfRisks(eventLog, context);
  return eventLog;
}

/** Logs once why the log can lose records, as soon as it answers after any outage. */
async function warnOfRisks(eventLog: EventLog, { log, runner: { stopping } }: Context): Promise<void> {
  const names = topics.map(({ name }) => name);
  while (!stopping.aborted) {
    const risks = await eventLog.risks(names).catch(() => null);
    if (risks) return risks.forEach((sentence) => void log.warn(sentence));
    await sleep(seconds(5), undefined, { signal: stopping, ref: false }).catch(() => {});
  }
}
