import { bounded } from "../bounded.ts";
import type { TopicPartition } from "../event-log.ts";
import { isAway, LateAnswer } from "./kafka-errors.ts";

interface TopicOffsets {
  readonly topic: string;
  readonly partitions: { readonly partition: number; readonly offset: string }[];
}

type Send = (offsets: { topics: TopicOffsets[] }) => Promise<void>;

/** A commit waits for every replica of the group's offsets, and a broker that has just died is one for seconds. */
const goOnMs = 300;

/**
 * Commits offsets, one request at a time and the newest of each partition. Reading goes on while the coordinator is slow or
 * away: what is owed goes with the next commit, or once the coordinator is heard again.
 */
export class OffsetCommits {
  readonly #owed = new Map<string, TopicPartition & { readonly offset: string }>();
  #send: Send = async () => {};
  #sending: Promise<void> | null = null;
  /** True while nobody waits for a commit, because the last one was not answered in time. */
  #isSlow = false;

  /** Resolves when the offset is committed, or owed. Rejects when the group divides its partitions anew. */
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

  /** Commits what is owed. */
  async settle(): Promise<void> {
    while (this.#sending) await this.#sending.catch(() => {});
    if (this.#owed.size === 0) return;
    this.#sending = this.#sendOwed().finally(() => {
      this.#sending = null;
    });
    await this.#sending;
  }

  /** Forgets what is owed: a new generation of the group begins at what is committed. */
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
