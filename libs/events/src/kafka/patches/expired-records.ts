import { createRequire } from "node:module";
import type { ExpiredRecords, TopicPartition } from "../../log/event-log.ts";

interface OffsetManager {
  readonly memberId: string;
  readonly cluster: {
    fetchTopicsOffset(
      topics: readonly { topic: string; fromBeginning: boolean; partitions: readonly { partition: number }[] }[],
    ): Promise<readonly { readonly partitions: readonly { readonly offset: string }[] }[]>;
  };
  nextOffset(topic: string, partition: number): { toString(): string };
  setDefaultOffset(place: TopicPartition): Promise<void>;
}

type Listener = (expired: ExpiredRecords) => void;

const listeners = new Map<string, Listener>();

/** Calls the listener when the records that a group member wants next have expired. */
export function onExpiredRecords(memberId: string, listener: Listener): () => void {
  listeners.set(memberId, listener);
  return () => void listeners.delete(memberId);
}

/**
 * Fault: reading continues at the first record when an offset is out of range, without reporting the old one. When the
 * next batch arrives, the broker has forgotten it too. Here the lost records are counted first.
 * Seen in kafkajs 2.2.4. Upstream: tulios/kafkajs#1119, #1777.
 */
const manager: OffsetManager = createRequire(import.meta.url)("kafkajs/src/consumer/offsetManager/index.js").prototype;
const { setDefaultOffset } = manager;

manager.setDefaultOffset = async function reportThenReset(this: OffsetManager, place: TopicPartition) {
  const listener = listeners.get(this.memberId);
  if (listener) {
    const { topic, partition } = place;
    const next = BigInt(this.nextOffset(topic, partition).toString());
    const answer = await this.cluster.fetchTopicsOffset([{ topic, fromBeginning: true, partitions: [{ partition }] }]);
    const records = Number(BigInt(answer[0]?.partitions[0]?.offset ?? next) - next);
    if (records > 0) listener({ topic, partition, records }); // otherwise the offset lies beyond the end
  }
  await setDefaultOffset.call(this, place);
};
