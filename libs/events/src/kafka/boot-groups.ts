import { randomBytes } from "node:crypto";
import type { Admin } from "kafkajs";

const bootPattern = /\.boot-[0-9a-f]{12}$/;

/** Distinguishes the groups of broadcast readers from groups that commit offsets. */
export const isBootGroup = (group: string): boolean => bootPattern.test(group);

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
