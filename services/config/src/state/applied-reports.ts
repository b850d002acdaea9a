import { setTimeout as sleep } from "node:timers/promises";
import type { EventData } from "@signalbox/contracts";
import { type Clock, minutes } from "@signalbox/core";
import { decodeEvent, type EventLog, eventNameOf, type ReceivedRecord } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";

type AppliedReport = EventData<"config.applied">;
type Context = Pick<ServiceContext<unknown>, "service" | "instance" | "log" | "runner" | "health" | "clock">;

interface ReceivedReport {
  readonly report: AppliedReport;
  readonly receivedAtMs: number;
  readonly appliedAt: string;
}

/** The reported values of an instance, and its lag. */
export interface LiveInstance {
  readonly report: AppliedReport;
  /** Seconds since the first revision that it has not applied; 0 when it has the newest. */
  readonly lagSeconds: number;
  readonly lastSeenSeconds: number;
  readonly appliedAt: string;
}

/** Instances report every minute; one that was silent for three counts as stopped and no longer delays the others. */
const staleAfterMs = minutes(3);
/** Keeps the newest arrivals only; an instance further behind shows the age of the oldest kept one. */
const arrivalsMax = 1_000;

/** The reports of every instance about its values. */
export class AppliedReports {
  readonly #clock: Clock;
  readonly #received = new Map<string, ReceivedReport>();
  readonly #listeners = new Set<() => void>();
  /** Times at which each of the newest revisions was first reported, in their order. */
  readonly #arrivals: { readonly revision: number; readonly atMs: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  apply(report: AppliedReport, sentAt: Date): void {
    const key = keyOf(report);
    const known = this.#received.get(key);
    const before = known?.report.revision === report.revision ? known.appliedAt : sentAt.toISOString();
    const appliedAt = report.applied_at ?? before;
    if (report.ended) this.#received.delete(key);
    else this.#received.set(key, { report, receivedAtMs: sentAt.getTime(), appliedAt });
    if (report.revision > (this.#arrivals.at(-1)?.revision ?? 0)) {
      this.#arrivals.push({ revision: report.revision, atMs: Date.parse(appliedAt) });
      if (this.#arrivals.length > arrivalsMax) this.#arrivals.shift();
    }
    if (known && contentOf(known.report) === contentOf(report)) return;
    for (const listener of this.#listeners) listener();
  }

  alive(): LiveInstance[] {
    const nowMs = this.#clock.nowMs();
    for (const [key, { receivedAtMs }] of this.#received)
      if (nowMs - receivedAtMs > staleAfterMs) this.#received.delete(key);
    const secondsSince = (atMs: number) => Math.max(0, Math.round((nowMs - atMs) / 1000));
    return [...this.#received.values()].map(({ report, receivedAtMs, appliedAt }) => {
      const missed = this.#arrivals.find(({ revision }) => revision > report.revision);
      const lagSeconds = missed === undefined ? 0 : secondsSince(missed.atMs);
      return { report, lagSeconds, lastSeenSeconds: secondsSince(receivedAtMs), appliedAt };
    });
  }

  /** Time at which the next of them counts as stopped without a new report, in milliseconds since the epoch. */
  nextGoneAtMs(): number {
    return Math.min(...[...this.#received.values()].map(({ receivedAtMs }) => receivedAtMs + staleAfterMs));
  }

  /** Lists the live instances by their services and names. */
  inOrder(): LiveInstance[] {
    return this.alive().sort((a, b) => keyOf(a.report).localeCompare(keyOf(b.report)));
  }

  /** Calls the listener after each report with new content; returns the function that stops it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Waits for a condition, which is checked after each report with new content, at most this long. */
  async until(holds: () => boolean, waitMs: number): Promise<void> {
    if (waitMs === 0 || holds()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const forget = this.onChange(() => {
      if (holds()) resolve();
    });
    const timer = new AbortController();
    const late = sleep(waitMs, undefined, { signal: timer.signal, ref: false }).catch(() => {});
    await Promise.race([promise, late]);
    timer.abort();
    forget();
  }
}

const keyOf = ({ service, instance }: AppliedReport): string => `${service}/${instance}`;

/** Returns the part of a report that listeners wait for: the beats of workers change with every report. */
const contentOf = ({ workers: _, ...report }: AppliedReport): string => JSON.stringify(report);

/** Opens the reader of reports. Every instance of config reads those of every service, so each can answer for all. */
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
  // Liveness reports a failure.
  reader.caughtUp.then(() => startup.done()).catch(() => {});
  return reports;
}
