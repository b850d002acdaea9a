import type { Clock } from "@signalbox/core";
import type { Admin } from "kafkajs";
import type { PartitionLag } from "../event-log.ts";

/** Ages are found by asking for the first offset at a time; each step halves the error, down to about 0.1 s. */
const oldestMs = 30 * 24 * 60 * 60 * 1000;
const precisionMs = 100;

/** Measures how far the group is behind, for every partition of the topics it has committed offsets in. */
export async function kafkaLag(admin: Admin, clock: Clock, group: string): Promise<PartitionLag[]> {
  const lags: PartitionLag[] = [];
  for (const { topic, partitions } of await admin.fetchOffsets({ groupId: group })) {
    const committedOf = new Map(partitions.map(({ partition, offset }) => [partition, BigInt(offset)]));
    for (const { partition, low, high } of await admin.fetchTopicOffsets(topic)) {
      const known = committedOf.get(partition) ?? -1n;
      const committed = known < BigInt(low) ? BigInt(low) : known;
      const end = BigInt(high);
      const messages = Number(end - committed);
      const seconds = messages > 0 ? await ageOf(admin, clock, topic, partition, committed) : 0;
      lags.push({ topic, partition, committed, end, messages, seconds });
    }
  }
  return lags;
}

async function ageOf(admin: Admin, clock: Clock, topic: string, partition: number, offset: bigint): Promise<number> {
  const nowMs = clock.nowMs();
  let youngerMs = 0;
  let olderMs = oldestMs;
  while (olderMs - youngerMs > Math.max(precisionMs, olderMs / 100)) {
    // Ages spread over many magnitudes: the geometric middle finds seconds as quickly as days.
    const middleMs = youngerMs < 1 ? Math.min(olderMs / 2, 1000) : Math.sqrt(youngerMs * olderMs);
    const found = await admin.fetchTopicOffsetsByTimestamp(topic, Math.floor(nowMs - middleMs));
    const first = found.find((entry) => entry.partition === partition)?.offset ?? "-1";
    const isOlder = BigInt(first) < 0n || BigInt(first) > offset;
    if (isOlder) youngerMs = middleMs;
    else olderMs = middleMs;
  }
  return olderMs / 1000;
}
