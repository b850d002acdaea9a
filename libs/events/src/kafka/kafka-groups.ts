import { randomBytes } from "node:crypto";
import type { Admin } from "kafkajs";
import { type RewindTarget, refuseLiving, unknownGroup } from "../event-log.ts";

/** Lists the groups that commit offsets, without the temporary groups of broadcast readers. */
export async function kafkaGroups(admin: Admin): Promise<string[]> {
  const { groups } = await admin.listGroups();
  return groups
    .map(({ groupId }) => groupId)
    .filter((group) => !isBootGroup(group))
    .sort();
}

/** Lists the topics for which the group has committed offsets. */
async function topicsOfGroup(admin: Admin, group: string): Promise<string[]> {
  return (await admin.fetchOffsets({ groupId: group })).map(({ topic }) => topic).sort();
}

/** Sets the committed offsets of a group without members. @throws Error when it has some, or is unknown. */
export async function rewindKafkaGroup(admin: Admin, group: string, to: RewindTarget): Promise<void> {
  const { groups } = await admin.describeGroups([group]);
  refuseLiving(group, groups[0]?.members.length ?? 0);
  const topics = await topicsOfGroup(admin, group);
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
