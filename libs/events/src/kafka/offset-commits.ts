import { bounded } from "../concurrency.ts";
import type { TopicPartition } from "../event-log.ts";
import { isAway, LateAnswer } from "./kafka-errors.ts";

interface TopicOffsets {
  readonly topic: string;
  readonly partitions: { readonly partition: number; readonly offset: string }[];
}

type Send = (offsets: { topics: TopicOffsets[] }) => Promise<void>;

/**
 * A commit waits for every replica of the group's offsets, and a broker that has just died counts as one for seconds.
 */
const goOnMs = 300;

/**
 * Commits offsets, one request at a time and the newest of each partition. Reading continues while the coordinator is
 * slow or away: outstanding offsets go with the next commit, or once the coordinator answers again.
 */
export class OffsetCommits {
  readonly #owed = new Map<string, TopicPartition & { readonly offset: string }>();
  #send: Send = async () => {};
  #sending: Promise<void> | null = null;
  /** True while commits are not awaited, because the last one was not answered in time. */
  #isSlow = false;

  /** Resolves when the offset is committed, or outstanding. Rejects when the group rebalances. */
  async commit({ topic, partition }: TopicPartition, offset: string, send: Send): Promise<void> {
    this.#owed.set(`${topic}/${partition}`, { topic, partition, offset });
    this.#send = send;
    try {
      await bounded(this.settle(), this.#isSlow ? 0 : goOnMs, () => new LateAnswer("the coordinator is slow"));
    } catch (error) {
      if (!isAway(error)) throw error;
      this.#isSlow = true;
    }
  }

  /** Commits the outstanding offsets. */
  async settle(): Promise<void> {
    while (this.#sending) await this.#sending.catch(() => {});
    if (this.#owed.size === 0) return;
    this.#sending = this.#sendOwed().finally(() => {
      this.#sending = null;
    });
    await this.#sending;
  }

  /** Drops the outstanding offsets: a new generation of the group begins at the committed ones. */
  forget(): void {
    this.#owed.clear();
  }

  async #sendOwed(): Promise<void> {
    const owed = new Map(this.#owed);
    this.#owed.clear();
    try {
      await this.#send({ topics: topicsOf([...owed.values()]) });
      this.#isSlow = false;
    } catch (error) {
      if (isAway(error)) for (const [name, one] of owed) if (!this.#owed.has(name)) this.#owed.set(name, one);
      throw error;
    }
  }
}

function topicsOf(offsets: readonly (TopicPartition & { readonly offset: string })[]): TopicOffsets[] {
  return [...Map.groupBy(offsets, ({ topic }) => topic)].map(([topic, ofTopic]) => ({
    topic,
    partitions: ofTopic.map(({ partition, offset }) => ({ partition, offset })),
  }));
}
