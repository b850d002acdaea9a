import type { Configuration } from "@signalbox/config";
import type { TopicAccess } from "@signalbox/contracts";
import { hours } from "@signalbox/core";
import type { LogAccess, ServiceAccess, TopicSpec } from "./event-log.ts";
import type { topicsProperties } from "./properties.ts";

/** The topics and access rights of an installation: the catalogue, with the copies and principals of its properties. */
export function topicSettings(
  configuration: Pick<Configuration<typeof topicsProperties>, "get">,
  catalogue: { readonly topics: readonly TopicSpec[]; readonly access: readonly TopicAccess[] },
): { readonly specs: readonly TopicSpec[]; readonly access: readonly LogAccess[] } {
  const replicas = configuration.get("events.topics.replication-factor");
  const minInSync = configuration.get("events.topics.min-insync-replicas");
  const principals = configuration.get("events.principals");
  const watchers = configuration.get("events.watchers").map(watcherAccess);
  const copies = { ...(replicas !== null && { replicas }), ...(minInSync !== null && { minInSync }) };
  return {
    specs: catalogue.topics.map((spec) => ({ ...spec, ...copies })),
    access: principals === null ? [] : [...catalogue.access.map((one) => accessOf(one, principals)), ...watchers],
  };
}

const watcherAccess = (principal: string): LogAccess => ({ principal, watchesAll: true });

function accessOf({ service, writes, reads, answersFor }: TopicAccess, principals: string): ServiceAccess {
  const principal = principals.replace("{service}", service);
  const describedGroups = answersFor.map((other) => `${other}.`);
  return { principal, writes, reads, groupPrefix: `${service}.`, describedGroups };
}

/**
 * Interval at which the owner of a state topic repeats the content of its database there, unless it was just published.
 */
export const stateRepetitionMs = hours(1);

/**
 * Minimum age before compaction may remove a record. A late publish that lands behind a newer one would otherwise be
 * the only record left: until the next repetition a reader still finds the newer one beside it.
 */
export const compactionLagMs = 3 * stateRepetitionMs;
