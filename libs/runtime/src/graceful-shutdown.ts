import { type Clock, seconds } from "@signalbox/core";
import type { Logger } from "./telemetry/logger.ts";

/** A part that ends when the process stops, with its name in log lines. */
interface Part {
  readonly name: string;
  readonly end: () => unknown;
  /** Time limit of its close, if not that of all. */
  readonly withinMs?: number | undefined;
  /** Returns the amount of running work. */
  readonly inHand?: (() => number) | undefined;
}

interface Dependencies {
  readonly log: Logger;
  readonly clock: Clock;
  /** Time limit of one close. */
  readonly closeMsMax?: number | undefined;
}

/** Share of the deadline for drains; the rest is reserved for the closes, which must not be skipped. */
const drainShare = 0.8;

/** Finishes and closes the open parts of a process when it stops: drains in parallel, then closes in reverse. */
export class GracefulShutdown {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #closeMsMax: number;
  readonly #drains: Part[] = [];
  readonly #closes: Part[] = [];
  #state: "open" | "draining" | "closed" = "open";

  constructor({ log, clock, closeMsMax = seconds(10) }: Dependencies) {
    this.#log = log;
    this.#clock = clock;
    this.#closeMsMax = closeMsMax;
  }

  /** Adds a close; after everything was closed, it runs immediately. */
  addClose(part: Part): void {
    if (this.#state === "closed") void this.#close(part, part.withinMs ?? this.#closeMsMax);
    else this.#closes.push(part);
  }

  /** Adds a drain; after the drains began, it runs immediately. */
  addDrain(part: Part): void {
    if (this.#state !== "open") void settleWithin(part.end, this.#closeMsMax);
    else this.#drains.push(part);
  }

  /** Sums the running work of the parts that count it. */
  inHand(): number {
    return this.#drains.reduce((sum, { inHand }) => sum + (inHand?.() ?? 0), 0);
  }

  /** Runs once. Returns the names of the parts that did not end in time. */
  async run(deadlineMs: number, workers: readonly Part[]): Promise<string[]> {
    const endMs = this.#clock.steadyMs() + deadlineMs;
    this.#state = "draining";
    const open = await this.#drain([...this.#drains, ...workers], deadlineMs * drainShare);
    if (open.length > 0) this.#log.error({ open }, "Running work was not finished in time");
    for (let part = this.#closes.pop(); part !== undefined; part = this.#closes.pop()) {
      const leftMs = endMs - this.#clock.steadyMs();
      const inTime = leftMs > 0 && (await this.#close(part, Math.min(part.withinMs ?? this.#closeMsMax, leftMs)));
      if (!inTime) open.push(part.name);
    }
    this.#state = "closed";
    return open;
  }

  async #drain(parts: readonly Part[], withinMs: number): Promise<string[]> {
    const late: string[] = [];
    const startedMs = this.#clock.steadyMs();
    const elapsedMs = () => Math.round(this.#clock.steadyMs() - startedMs);
    const inHand = Object.fromEntries(parts.flatMap(({ name, inHand }) => (inHand ? [[name, inHand()]] : [])));
    const partsMs: Record<string, number> = {};
    await Promise.all(
      parts.map(async ({ name, end }) => {
        const settled = await settleWithin(end, withinMs);
        partsMs[name] = elapsedMs();
        if (settled.state === "late") late.push(name);
        if (settled.state === "failed") {
          this.#log.error({ part: name, error: settled.error }, "Draining a part failed");
        }
      }),
    );
    this.#log.info({ in_hand: inHand, parts_ms: partsMs, duration_ms: elapsedMs() }, "Draining is complete");
    return parts.map(({ name }) => name).filter((name) => late.includes(name));
  }

  async #close({ name, end }: Part, withinMs: number): Promise<boolean> {
    const settled = await settleWithin(end, withinMs);
    if (settled.state === "failed") {
      this.#log.error({ part: name, error: settled.error }, "Closing a part failed");
    }
    if (settled.state === "late") {
      this.#log.error({ part: name, waited_ms: withinMs }, "A part did not close in time");
    }
    return settled.state !== "late";
  }
}

type Settled =
  | { readonly state: "done" }
  | { readonly state: "failed"; readonly error: unknown }
  | { readonly state: "late" };

/** Runs the work and returns its result, or that it has not ended in time. Never rejects. */
async function settleWithin(work: () => unknown, milliseconds: number): Promise<Settled> {
  const late = Promise.withResolvers<Settled>();
  const timer = setTimeout(() => late.resolve({ state: "late" }), milliseconds);
  const done = (async (): Promise<Settled> => {
    try {
      await work();
      return { state: "done" };
    } catch (error) {
      return { state: "failed", error };
    }
  })();
  try {
    return await Promise.race([done, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
