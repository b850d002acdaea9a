import type { Admin } from "kafkajs";
import { type RewindTarget, refuseLiving, unknownGroup } from "../rewind-target.ts";
import { isBootGroup } from "./boot-groups.ts";

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
