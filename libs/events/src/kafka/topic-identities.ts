import { setTimeout as sleep } from "node:timers/promises";
import type { Admin } from "kafkajs";
import { topicIdOf } from "./patches/topic-ids.ts";

/** Readers learn of a topic that was made again as fast as of a change on it. */
const everyMs = 1_000;

/** The ids of the topics that a reader reads: a topic that was made again, or is in another cluster, has another id. */
export class TopicIdentities {
  readonly #admin: () => Promise<Admin>;
  readonly #ids: Map<string, string | null>;

  constructor(admin: () => Promise<Admin>, topics: readonly string[]) {
    this.#admin = admin;
    this.#ids = new Map(topics.map((topic) => [topic, null]));
  }

  /**
   * Passes each topic whose id has changed on, and remembers the id once that is done. The first id of a topic is
   * remembered alone.
   */
  async check(onReplaced: (topic: string) => Promise<void>): Promise<void> {
    const { topics } = await (await this.#admin()).fetchTopicMetadata({ topics: [...this.#ids.keys()] });
    for (const topic of topics) {
      const [former, id] = [this.#ids.get(topic.name) ?? null, topicIdOf(topic)];
      if (id === null || id === former) continue;
      if (former !== null) await onReplaced(topic.name);
      this.#ids.set(topic.name, id);
    }
  }

  /** Checks every second until the signal aborts. While the log is away or a topic absent, fetches report it. */
  async watch(signal: AbortSignal, onReplaced: (topic: string) => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await this.check(onReplaced).catch(() => {});
      await sleep(everyMs, undefined, { signal }).catch(() => {});
    }
  }
}
