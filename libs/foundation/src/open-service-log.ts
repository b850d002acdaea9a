import type { Configuration } from "@signalbox/config";
import { type EventLog, type eventsProperties, openEventLog } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";

type Context = Omit<ServiceContext<unknown>, "configuration"> & {
  readonly configuration: Pick<Configuration<typeof eventsProperties>, "get">;
};

/** Opens the event log under this service's name. An absent log is no reason to be unready: what it is for waits. */
export function openServiceLog(context: Context): Promise<EventLog> {
  const { configuration, service, log, metrics, clock, runner, tracer } = context;
  return openEventLog(configuration.get("events.url"), { clientId: service, log, metrics, clock, runner, tracer });
}
