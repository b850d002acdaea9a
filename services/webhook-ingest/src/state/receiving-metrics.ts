import { type Clock, entryLimit, minutes } from "@signalbox/core";
import type { Metrics } from "@signalbox/runtime";
import type { SchemeName } from "@signalbox/webhook-signatures";
import { LRUCache } from "lru-cache";

/** The outcome of a webhook; `scheme` is null for an unknown source, `reason` is that of a refusal. */
interface CountedOutcome {
  readonly outcome: string;
  readonly scheme: SchemeName | null;
  readonly reason?: string;
}

/** The outcomes of webhooks, counted by scheme and never by source, because sources are unbounded. */
export class ReceivingMetrics {
  readonly #outcomes;
  readonly #refusals;
  readonly #verification;
  readonly #dropped;
  readonly #shares: RefusedShares;

  constructor(metrics: Metrics, clock: Clock) {
    this.#outcomes = metrics.counter("signalbox_webhooks_received_total");
    this.#refusals = metrics.counter("signalbox_webhooks_refused_total");
    this.#verification = metrics.histogram("signalbox_webhook_verification_seconds");
    this.#dropped = metrics.counter("signalbox_webhook_rejections_dropped_total");
    this.#shares = new RefusedShares(clock);
    metrics.gauge("signalbox_webhook_sources_mostly_refused", async (gauge) => {
      gauge.set({}, this.#shares.mostlyRefused().length);
    });
  }

  countOutcome(sourceId: string, { outcome, scheme, reason }: CountedOutcome): void {
    if (scheme === null) {
      this.#outcomes.inc({ scheme: "none", outcome: "unknown_source" });
      return;
    }
    const isRefused = reason !== undefined;
    this.#outcomes.inc({ scheme, outcome: isRefused ? "refused" : outcome });
    if (isRefused) this.#refusals.inc({ scheme, reason });
    this.#shares.count(sourceId, isRefused);
  }

  /** Counts a webhook that was refused before its source was looked up. */
  countTurnedAway(reason: "allowance_used" | "in_hand" | "body_too_large" | "body_too_slow"): void {
    this.#refusals.inc({ scheme: "none", reason });
  }

  countDroppedRejection(): void {
    this.#dropped.inc();
  }

  observeVerification(scheme: SchemeName, seconds: number): void {
    this.#verification.observe({ scheme }, seconds);
  }
}

interface Window {
  readonly startsMs: number;
  taken: number;
  refused: number;
}

interface Windows {
  now: Window;
  before: Window;
}

const windowMs = minutes(5);
/** Fewer webhooks than this prove nothing. */
const webhooksMin = 20;
const sourcesMax = 10_000;

/** Counts the sources with most webhooks refused lately: a wrong secret, or forgeries. Ids are no metric labels. */
export class RefusedShares {
  readonly #clock: Clock;
  readonly #windows = new LRUCache<string, Windows>(entryLimit(sourcesMax));

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  count(sourceId: string, isRefused: boolean): void {
    const known = this.#windows.get(sourceId);
    const counted = this.#current(known);
    if (isRefused) counted.now.refused++;
    else counted.now.taken++;
    if (counted !== known) this.#windows.set(sourceId, counted);
  }

  /** Returns the sources with more than half of their webhooks refused. */
  mostlyRefused(): string[] {
    return [...this.#windows.entries()].flatMap(([sourceId, known]) => {
      const { now, before } = this.#current(known);
      const [taken, refused] = [now.taken + before.taken, now.refused + before.refused];
      return refused > taken && taken + refused >= webhooksMin ? [sourceId] : [];
    });
  }

  #current(known: Windows | undefined): Windows {
    const startsMs = Math.floor(this.#clock.nowMs() / windowMs) * windowMs;
    if (known?.now.startsMs === startsMs) return known;
    const isNext = known?.now.startsMs === startsMs - windowMs;
    return { now: emptyWindow(startsMs), before: isNext ? known.now : emptyWindow(startsMs - windowMs) };
  }
}

const emptyWindow = (startsMs: number): Window => ({ startsMs, taken: 0, refused: 0 });
