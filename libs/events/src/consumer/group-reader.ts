import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@signalbox/runtime";
import type { EventLog, SubscribeOptions, Subscription, UndecodableBatch } from "../log/event-log.ts";

const reconnectMs = 1_000;

/** Keeps a consumer subscribed: waits for a log that is away, and leaves the group at the end. */
export class GroupReader {
  readonly #eventLog: EventLog;
  readonly #options: SubscribeOptions;
  readonly #log: Logger;
  #subscription: Subscription | null = null;

  constructor(eventLog: EventLog, options: SubscribeOptions, log: Logger) {
    this.#eventLog = eventLog;
    this.#options = options;
    this.#log = log;
  }

  /**
   * Reads until the signal aborts. A subscription that cannot continue ends the worker, and its supervisor starts
   * another.
   */
  async run(signal: AbortSignal, beat: () => void): Promise<void> {
    const subscription = await this.#subscribe(signal, beat);
    if (!subscription) return;
    this.#subscription = subscription;
    try {
      while (!signal.aborted) {
        beat();
        const pause = sleep(reconnectMs, undefined, { signal }).catch(() => {});
        await Promise.race([subscription.ended, pause]);
      }
    } finally {
      this.#subscription = null;
      await subscription.close();
    }
  }

  /**
   * Gives the reason why only a restart of the process helps, or null. A reader that is not subscribed yet retries by
   * itself.
   */
  async liveness(): Promise<string | null> {
    return this.#subscription?.liveness() ?? null;
  }

  /** Lists the batches that cannot be decoded: their partitions wait. */
  halted(): readonly UndecodableBatch[] {
    return this.#subscription?.halted() ?? [];
  }

  async #subscribe(signal: AbortSignal, beat: () => void): Promise<Subscription | null> {
    const part = `group ${this.#options.group}`;
    while (!signal.aborted) {
      beat();
      try {
        const subscription = await this.#eventLog.subscribe(this.#options);
        this.#log.outage("The event log").passed(part);
        return subscription;
      } catch (error) {
        this.#log.outage("The event log").failed(part, error);
        await sleep(reconnectMs, undefined, { signal }).catch(() => {});
      }
    }
    return null;
  }
}
