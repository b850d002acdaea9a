import { randomBytes } from "node:crypto";
import { type Clock, hours } from "@signalbox/core";
import kafkajs, { type Admin } from "kafkajs";
import {
  type GroupMember,
  type PartitionLag,
  type PartitionRange,
  type RewindTarget,
  refuseLiving,
  unknownGroup,
} from "../log/event-log.ts";
import { requireKafkaTopics } from "./kafka-topics.ts";

/** Lists the groups that commit offsets, without the temporary groups of broadcast readers and the marks of skips. */
export async function kafkaGroups(admin: Admin): Promise<string[]> {
  const { groups } = await admin.listGroups();
  return groups
    .map(({ groupId }) => groupId)
    .filter((group) => !isBootGroup(group) && !isSkipsGroup(group))
    .sort();
}

/** Sets the committed offsets of a group without members. @throws Error when it has some, or is unknown. */
export async function rewindKafkaGroup(admin: Admin, group: string, to: RewindTarget): Promise<void> {
  const { groups } = await admin.describeGroups([group]);
  refuseLiving(group, groups[0]?.members.length ?? 0);
  const topics = (await admin.fetchOffsets({ groupId: group })).map(({ topic }) => topic);
  if (topics.length === 0) throw unknownGroup(group);
  for (const topic of topics) {
    const partitions = await offsetsAt(admin, topic, to);
    await admin.setOffsets({ groupId: group, topic, partitions });
  }
}

async function offsetsAt(
  admin: Admin,
  topic: string,
  to: RewindTarget,
): Promise<{ partition: number; offset: string }[]> {
  if (to instanceof Date) return await admin.fetchTopicOffsetsByTimestamp(topic, to.getTime());
  const bounds = await admin.fetchTopicOffsets(topic);
  return bounds.map(({ partition, low, high }) => ({ partition, offset: to === "start" ? low : high }));
}

const bootPattern = /\.boot-[0-9a-f]{12}$/;

/** Distinguishes the groups of broadcast readers from groups that commit offsets. */
const isBootGroup = (group: string): boolean => bootPattern.test(group);

/**
 * Names the group whose committed offsets tell which batches another group skips: there every member finds them, and
 * Kafka forgets them together with their topic.
 */
export const skipsOf = (group: string): string => `${group}.skips`;
const isSkipsGroup = (group: string): boolean => group.endsWith(".skips");

/** Creates the name of a group that one reader uses once: `<service>.<instance>.boot-<random>`. */
export function bootGroup(service: string, instance: string): string {
  return `${service}.${instance}.boot-${randomBytes(6).toString("hex")}`;
}

/**
 * Deletes the group of a closed reader. A group that stays after a failure is removed by the sweep of the next reader.
 */
export async function deleteBootGroup(admin: Admin, group: string): Promise<void> {
  await admin.deleteGroups([group]).catch(() => {});
}

/** Deletes the groups of crashed readers of this service. A group with a living member is not empty. */
export async function sweepBootGroups(admin: Admin, service: string, ownGroup: () => string | null): Promise<void> {
  const { groups } = await admin.listGroups();
  const candidates = groups
    .map(({ groupId }) => groupId)
    .filter((id) => id.startsWith(`${service}.`) && isBootGroup(id) && id !== ownGroup());
  if (candidates.length === 0) return;
  const { groups: described } = await admin.describeGroups(candidates);
  const empty = described.filter(({ state }) => state === "Empty" || state === "Dead").map(({ groupId }) => groupId);
  if (empty.length > 0) await admin.deleteGroups(empty);
}

/** Lists the living members of the group, with the number of their partitions. */
export async function kafkaMembers(admin: Admin, group: string): Promise<GroupMember[]> {
  const { groups } = await admin.describeGroups([group]);
  return (groups[0]?.members ?? []).map(({ memberId, memberAssignment }) => {
    const assignment =
      memberAssignment.length > 0 ? kafkajs.AssignerProtocol.MemberAssignment.decode(memberAssignment) : null;
    return { member: memberId, partitions: Object.values(assignment?.assignment ?? {}).flat().length };
  });
}

/** Bounds of the age of a record. */
interface AgeBracket {
  readonly offset: bigint;
  youngerMs: number;
  olderMs: number;
}

const oldestMs = hours(24 * 30);
const precisionMs = 100;

/** Measures the lag of the group, for every partition of the topics. */
export async function kafkaLag(
  admin: Admin,
  clock: Clock,
  group: string,
  topics: readonly string[] = [], // empty: all topics of the group
): Promise<PartitionLag[]> {
  const fetched = await admin.fetchOffsets({ groupId: group, topics: [...topics] });
  const lags = fetched.map(async ({ topic, partitions }) => {
    const committed = new Map(partitions.map(({ partition, offset }) => [partition, BigInt(offset)]));
    return lagOfTopic(admin, clock.nowMs(), topic, committed);
  });
  return (await Promise.all(lags)).flat();
}

async function lagOfTopic(
  admin: Admin,
  nowMs: number,
  topic: string,
  committedOf: ReadonlyMap<number, bigint>,
): Promise<PartitionLag[]> {
  const positions = (await admin.fetchTopicOffsets(topic)).map(({ partition, low, high }) => {
    const known = committedOf.get(partition) ?? -1n; // also the broker's answer for a group that never committed
    return { partition, committed: known < BigInt(low) ? BigInt(low) : known, end: BigInt(high) };
  });
  const waiting = positions.filter(({ committed, end }) => committed < end);
  const ages = await agesOf(admin, nowMs, topic, new Map(waiting.map((one) => [one.partition, one.committed])));
  return positions.map(({ partition, committed, end }) => {
    const seconds = (ages.get(partition) ?? 0) / 1000;
    return { topic, partition, committed, end, messages: Number(end - committed), seconds };
  });
}

/**
 * Finds the ages of records, by partition and offset, by asking for the first offset at a time. Each request halves the
 * error of one age and covers all partitions, which are mostly about as old.
 */
async function agesOf(
  admin: Admin,
  nowMs: number,
  topic: string,
  offsets: ReadonlyMap<number, bigint>,
): Promise<Map<number, number>> {
  const brackets = new Map<number, AgeBracket>();
  for (const [partition, offset] of offsets) brackets.set(partition, { offset, youngerMs: 0, olderMs: oldestMs });
  for (const bracket of brackets.values()) {
    while (isWide(bracket)) {
      const ageMs = middleOf(bracket);
      for (const first of await admin.fetchTopicOffsetsByTimestamp(topic, Math.floor(nowMs - ageMs))) {
        const asked = brackets.get(first.partition);
        if (asked) narrow(asked, ageMs, BigInt(first.offset));
      }
    }
  }
  return new Map([...brackets].map(([partition, { olderMs }]) => [partition, olderMs]));
}

function isWide({ youngerMs, olderMs }: AgeBracket): boolean {
  return olderMs - youngerMs > Math.max(precisionMs, olderMs / 100);
}

/** Returns the geometric middle: ages spread over many magnitudes, and it finds seconds as quickly as days. */
function middleOf({ youngerMs, olderMs }: AgeBracket): number {
  return youngerMs < 1 ? Math.min(olderMs / 2, 1000) : Math.sqrt(youngerMs * olderMs);
}

/** Narrows a bracket. @param first the first offset that is not older than the age, or the end of the partition */
function narrow(bracket: AgeBracket, ageMs: number, first: bigint): void {
  if (first < 0n || first > bracket.offset) bracket.youngerMs = Math.max(bracket.youngerMs, ageMs);
  else bracket.olderMs = Math.min(bracket.olderMs, ageMs);
}

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
