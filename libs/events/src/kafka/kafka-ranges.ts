import type { Admin } from "kafkajs";
import type { PartitionRange } from "../event-log.ts";
import { requireKafkaTopics } from "./kafka-topics.ts";

/** Returns the current range of each partition of the topics. @throws UnknownTopic */
export async function kafkaRanges(admin: Admin, topics: readonly string[]): Promise<PartitionRange[]> {
  await requireKafkaTopics(admin, topics);
  const bounds = topics.map(async (topic) =>
    (await admin.fetchTopicOffsets(topic)).map(({ partition, low, high }) => {
      return { topic, partition, first: BigInt(low), end: BigInt(high) };
    }),
  );
  return (await Promise.all(bounds)).flat();
}
