import { seconds } from "@signalbox/core";
import type { Logger, Metrics, Runner } from "@signalbox/runtime";
import type { EventLog } from "./event-log.ts";

/** The topics of a log that a reader found to be other ones of the same name: made again, or in another log. */
export class ReplacedTopics {
  readonly #log: Logger;
  readonly #count: ReturnType<typeof replacedCounter>;
  readonly #listeners = new Map<string, (() => void)[]>();

  constructor({ log, metrics }: { readonly log: Logger; readonly metrics: Metrics }) {
    this.#log = log;
    this.#count = replacedCounter(metrics);
  }

  listen(topic: string, listener: () => void): void {
    this.#listeners.set(topic, [...(this.#listeners.get(topic) ?? []), listener]);
  }

  report(topic: string): void {
    this.#log.warn({ topic }, "the topic was recreated or is in another log: reading it from the beginning");
    this.#count.inc({ topic });
    for (const listener of this.#listeners.get(topic) ?? []) listener();
  }
}

const replacedCounter = (metrics: Metrics) => metrics.counter("signalbox_event_log_topics_replaced_total");

const lookEveryMs = seconds(1);

/** Restores the state on a state topic that was made again, which contains only what changed since. */
export function restoreWhenReplaced(
  runner: Runner,
  eventLog: EventLog,
  topic: string,
  restore: () => Promise<unknown>,
): void {
  let isDue = false;
  eventLog.onReplaced(topic, () => {
    isDue = true;
  });
  runner.every(`restoration of ${topic}`, lookEveryMs, async () => {
    if (!isDue) return;
    isDue = false;
    await restore().catch((error: unknown) => {
      isDue = true;
      throw error;
    });
  });
}
