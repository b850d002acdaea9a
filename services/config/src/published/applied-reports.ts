import type { EventData } from "@signalbox/contracts";
import { type Clock, minutes } from "@signalbox/core";
import { decodeEvent, type EventLog, eventNameOf, type ReceivedRecord } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";

type AppliedReport = EventData<"config.applied">;
type Context = Pick<ServiceContext<unknown>, "service" | "instance" | "log" | "runner" | "health" | "clock">;

interface Heard {
  readonly report: AppliedReport;
  readonly heardAtMs: number;
}

/** Instances report every minute; one that was not heard for three is gone and no longer holds the others back. */
const staleAfterMs = minutes(3);

/** What each instance says it runs with. */
export class AppliedReports {
  readonly #clock: Clock;
  readonly #heard = new Map<string, Heard>();
  readonly #listeners: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  apply(report: AppliedReport, sentAt: Date): void {
    const key = `${report.service}/${report.instance}`;
    const known = this.#heard.get(key);
    if (report.ended) this.#heard.delete(key);
    else this.#heard.set(key, { report, heardAtMs: sentAt.getTime() });
    if (JSON.stringify(known?.report) === JSON.stringify(report)) return;
    for (const listener of this.#listeners) listener();
  }

  /** The reports of the instances that are alive, with the seconds since each was heard. */
  alive(): { readonly report: AppliedReport; readonly lagSeconds: number }[] {
    const nowMs = this.#clock.nowMs();
    for (const [key, { heardAtMs }] of this.#heard) if (nowMs - heardAtMs > staleAfterMs) this.#heard.delete(key);
    return [...this.#heard.values()].map(({ report, heardAtMs }) => ({
      report,
      lagSeconds: Math.max(0, Math.round((nowMs - heardAtMs) / 1000)),
    }));
  }

  /** When the next of them counts as gone unless it is heard again, in milliseconds since the epoch. */
  nextGoneAtMs(): number {
    return Math.min(...[...this.#heard.values()].map(({ heardAtMs }) => heardAtMs + staleAfterMs));
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

/** Every instance of config hears every instance of every service, so each can answer for all. */
export async function openAppliedReports(context: Context, eventLog: EventLog): Promise<AppliedReports> {
  const { service, instance, log, runner, health, clock } = context;
  const startup = health.startup("applied configuration");
  const reports = new AppliedReports(clock);

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
  health.live("applied configuration", () => reader.liveness());
  void reader.caughtUp.then(
    () => startup.done(),
    () => {},
  );
  return reports;
}
