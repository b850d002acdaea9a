import type { Configuration } from "@signalbox/config";
import { type EventLog, type eventsProperties, openEventLog } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";
import type { SharedParts } from "./shared-parts.ts";

type Context = Omit<ServiceContext<unknown>, "configuration"> & {
  readonly configuration: Pick<Configuration<typeof eventsProperties>, "get">;
} & Pick<SharedParts, "eventLog">;

/** Opens the event log under this service's name. An absent log is no reason to be unready: what it is for waits. */
export async function openServiceLog(context: Context): Promise<EventLog> {
  if (context.eventLog) return context.eventLog;
  const { configuration, service, log, metrics, clock, runner, tracer } = context;
  return openEventLog(configuration.get("events.url"), { clientId: service, log, metrics, clock, runner, tracer });
}
