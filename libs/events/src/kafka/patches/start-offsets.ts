import { createRequire } from "node:module";
import { isAway } from "../errors/kafka-errors.ts";
import { askForLeaders, type Metadata } from "./dead-leaders.ts";
import { noLeader } from "./leaderless-partitions.ts";

interface TopicOffsets {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number }[];
}

interface Cluster {
  readonly brokerPool: Metadata;
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number; readonly leader: number }[];
  fetchTopicsOffset(this: Cluster, wanted: readonly TopicOffsets[]): Promise<readonly TopicOffsets[]>;
}

interface OffsetManager {
  readonly cluster: Cluster;
  resolveOffsets(): Promise<void>;
}

const load = createRequire(import.meta.url);
const { fetchTopicsOffset }: Cluster = load("kafkajs/src/cluster/index.js").prototype;
const offsets: OffsetManager = load("kafkajs/src/consumer/offsetManager/index.js").prototype;
const { resolveOffsets } = offsets;

/**
 * Fault: no partition is read until the start offset of each is known. Here partitions without a broker are left out
 * and asked for again before the next fetch.
 * Seen in kafkajs 2.2.4. Upstream: tulios/kafkajs#1691.
 */
offsets.resolveOffsets = function resolveWhatIsKnown(this: OffsetManager) {
  // The cluster belongs to this consumer; that of an admin client must fail when an answer is incomplete.
  if (!Object.hasOwn(this.cluster, "fetchTopicsOffset")) this.cluster.fetchTopicsOffset = offsetsOfLiving;
  return resolveOffsets.call(this);
};

async function offsetsOfLiving(this: Cluster, wanted: readonly TopicOffsets[]): Promise<readonly TopicOffsets[]> {
  const questions = wanted.flatMap((one) => {
    const known = this.findTopicPartitionMetadata(one.topic);
    const leaderOf = new Map(known.map(({ partitionId, leader }) => [partitionId, leader]));
    const apart = Map.groupBy(one.partitions, ({ partition }) => leaderOf.get(partition) ?? noLeader);
    apart.delete(noLeader);
    return [...apart.values()].map((partitions) => ({ ...one, partitions }));
  });
  const asked = questions.map((question) =>
    fetchTopicsOffset.call(this, [question]).catch((error: unknown) => {
      if (!isAway(error)) throw error;
      // Nothing is fetched without an offset, so no fetch would find out that another broker leads by now.
      askForLeaders(this.brokerPool);
      return [];
    }),
  );
  const answers = (await Promise.all(asked)).flat();
  return wanted.map(({ topic }) => ({
    topic,
    partitions: answers.filter((answer) => answer.topic === topic).flatMap(({ partitions }) => partitions),
  }));
}
