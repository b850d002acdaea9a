import type { TopicAccess } from "@signalbox/contracts";
import { hours } from "@signalbox/core";
import type { Configuration } from "@signalbox/runtime";
import type { LogAccess, ServiceAccess, TopicSpec } from "./event-log.ts";
import type { topicsProperties } from "./log-properties.ts";

/** The topics and access rights of an installation: the catalogue, with the copies and principals of its properties. */
export function topicSettings(
  configuration: Configuration<typeof topicsProperties>,
  catalogue: { readonly topics: readonly TopicSpec[]; readonly access: readonly TopicAccess[] },
): { readonly specs: readonly TopicSpec[]; readonly access: readonly LogAccess[] } {
  const replicas = configuration.get("events.topics.replication-factor");
  const minInSync = configuration.get("events.topics.min-insync-replicas");
  const principals = configuration.get("events.principals");
  const watchers = configuration.get("events.watchers").map(watcherAccess);
  const numbersOf = (name: "events.topics.partitions" | "events.topics.retention") =>
    perTopic(name, configuration.get(name), catalogue.topics);
  const [partitions, retention] = [numbersOf("events.topics.partitions"), numbersOf("events.topics.retention")];
  const copies = { ...(replicas !== null && { replicas }), ...(minInSync !== null && { minInSync }) };
  return {
    specs: catalogue.topics.map((spec) => ({
      ...spec,
      partitions: Math.max(spec.partitions, partitions.get(spec.name) ?? 0),
      retentionMs: retention.get(spec.name) ?? spec.retentionMs,
      ...copies,
    })),
    access: principals === null ? [] : [...catalogue.access.map((one) => accessOf(one, principals)), ...watchers],
  };
}

/** Reads `topic=number` for topics of facts. @throws Error that says what would be right */
function perTopic(name: string, entries: readonly string[], topics: readonly TopicSpec[]): ReadonlyMap<string, number> {
  const facts = topics.filter(({ cleanup }) => cleanup === "delete").map((topic) => topic.name);
  return new Map(
    entries.map((entry) => {
      const [, topic = "", number] = /^([^=]+)=([1-9]\d{0,11})$/.exec(entry) ?? [];
      if (number !== undefined && facts.includes(topic)) return [topic, Number(number)];
      throw new Error(`${name} has ${JSON.stringify(entry)}: expected <topic>=<number>, of ${facts.join(", ")}`);
    }),
  );
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
