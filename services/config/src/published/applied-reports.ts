import type { EventData } from "@signalbox/contracts";
import { type Clock, minutes } from "@signalbox/core";
import { decodeEvent, type EventLog, eventNameOf, type ReceivedRecord } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";

type AppliedReport = EventData<"config.applied">;
type Context = Pick<ServiceContext<unknown>, "service" | "instance" | "log" | "runner" | "health" | "clock">;

interface Heard {
  readonly report: AppliedReport;
  readonly heardAtMs: number;
  readonly appliedAt: string;
}

/** What an instance says it runs with, and how far it is behind. */
interface Alive {
  readonly report: AppliedReport;
  /** Seconds since the first revision that it has not applied; 0 when it has the newest. */
  readonly lagSeconds: number;
  readonly lastSeenSeconds: number;
  readonly appliedAt: string;
}

/** Instances report every minute; one that was not heard for three is gone and no longer holds the others back. */
const staleAfterMs = minutes(3);
/** Those before tell nothing that these do not: whoever is so far behind is behind by more than the oldest. */
const arrivalsMax = 1_000;

/** What each instance says it runs with. */
export class AppliedReports {
  readonly #clock: Clock;
  readonly #heard = new Map<string, Heard>();
  readonly #listeners = new Set<() => void>();
  /** When each of the newest revisions was first heard of, in their order. */
  readonly #arrivals: { readonly revision: number; readonly atMs: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  apply(report: AppliedReport, sentAt: Date): void {
    const key = `${report.service}/${report.instance}`;
    const known = this.#heard.get(key);
    const before = known?.report.revision === report.revision ? known.appliedAt : sentAt.toISOString();
    const appliedAt = report.applied_at ?? before;
    if (report.ended) this.#heard.delete(key);
    else this.#heard.set(key, { report, heardAtMs: sentAt.getTime(), appliedAt });
    if (report.revision > (this.#arrivals.at(-1)?.revision ?? 0)) {
      this.#arrivals.push({ revision: report.revision, atMs: Date.parse(appliedAt) });
      if (this.#arrivals.length > arrivalsMax) this.#arrivals.shift();
    }
    if (JSON.stringify(known?.report) === JSON.stringify(report)) return;
    for (const listener of this.#listeners) listener();
  }

  /** The instances that are alive. */
  alive(): Alive[] {
    const nowMs = this.#clock.nowMs();
    for (const [key, { heardAtMs }] of this.#heard) if (nowMs - heardAtMs > staleAfterMs) this.#heard.delete(key);
    const secondsSince = (atMs: number) => Math.max(0, Math.round((nowMs - atMs) / 1000));
    return [...this.#heard.values()].map(({ report, heardAtMs, appliedAt }) => {
      const missed = this.#arrivals.find(({ revision }) => revision > report.revision);
      const lagSeconds = missed === undefined ? 0 : secondsSince(missed.atMs);
      return { report, lagSeconds, lastSeenSeconds: secondsSince(heardAtMs), appliedAt };
    });
  }

  /** When the next of them counts as gone unless it is heard again, in milliseconds since the epoch. */
  nextGoneAtMs(): number {
    return Math.min(...[...this.#heard.values()].map(({ heardAtMs }) => heardAtMs + staleAfterMs));
  }

  /** Calls back after each report that says something new; returns the way to stop. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
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
