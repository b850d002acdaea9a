import { decodeEvent, type EventLog, eventNameOf, type ReceivedRecord } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";
import type { Properties } from "../properties.ts";
import type { AppliedReports } from "./applied-reports.ts";

/** Every instance of config hears every instance of every service, so each can answer for all. */
export async function followReports(
  { service, instance, log, runner, health }: ServiceContext<Properties>,
  eventLog: EventLog,
  reports: AppliedReports,
): Promise<void> {
  const startup = health.startup("applied configuration");
  let ended: string | null = null;

  function apply(record: ReceivedRecord): void {
    try {
      if (record.value === null || eventNameOf(record.headers) !== "config.applied") return;
      const { data, time } = decodeEvent("config.applied", record);
      reports.apply(data, time);
    } catch (error) {
      // Ending the reader over one report would hide those of all others.
      log.error({ error, key: record.key, offset: String(record.offset) }, "a report of an instance is unreadable");
    }
  }

  const reader = await eventLog.broadcast({
    service,
    instance: `${instance}-reports`,
    topics: ["signalbox.config-applied.v1"],
    from: "start",
    onRecord: apply,
  });
  runner.defer("applied configuration reader", () => reader.close());
  reader.ended.catch((error: Error) => {
    ended = `the reports of instances are no longer read: ${error.message}`;
  });
  health.live("applied configuration", () => ended);
  void reader.caughtUp.then(
    () => startup.done(),
    () => {},
  );
}
