import { createRequire } from "node:module";
import { isAway } from "../errors/kafka-errors.ts";

interface ConsumerGroup {
  readonly groupId: string;
  readonly cluster: { findGroupCoordinator(group: { groupId: string }): Promise<unknown> };
  readonly offsetManager: { coordinator: unknown } | null;
  coordinator: unknown;
  heartbeat(options: { interval: number }): Promise<void>;
}

/**
 * Fault: a member whose coordinator is away stops reading and joins anew. Here it looks for the coordinator and
 * meanwhile reads on; `GroupSession` ends that when the group may have taken it for dead.
 * Seen in kafkajs 2.2.4. Upstream: tulios/kafkajs#1069.
 */
const group: ConsumerGroup = createRequire(import.meta.url)("kafkajs/src/consumer/consumerGroup.js").prototype;
const { heartbeat } = group;
const searching = new WeakSet<ConsumerGroup>();

group.heartbeat = async function beatOrFindCoordinator(this: ConsumerGroup, options) {
  try {
    await heartbeat.call(this, options);
  } catch (error) {
    if (!isAway(error)) throw error;
    void findCoordinator(this); // reading does not wait for it
  }
};

async function findCoordinator(member: ConsumerGroup): Promise<void> {
  if (searching.has(member)) return;
  searching.add(member);
  const coordinator = await member.cluster.findGroupCoordinator({ groupId: member.groupId }).catch(() => null);
  searching.delete(member);
  if (!coordinator) return;
  member.coordinator = coordinator;
  if (member.offsetManager) member.offsetManager.coordinator = coordinator;
}
