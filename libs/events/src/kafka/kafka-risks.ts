import type { Admin } from "kafkajs";
import { topicResource } from "./kafkajs.ts";

/** The safety settings of a topic. */
export interface TopicSafety {
  readonly name: string;
  /** Of the partition with the fewest. */
  readonly copies: number;
  readonly minInSync: number;
}

const copiesMin = 3;
const inSyncMin = 2;
const inSyncProperty = "min.insync.replicas";

/** Lists, one sentence each, the reasons why existing topics can lose acknowledged records. */
export async function kafkaRisks(admin: Admin, names: readonly string[]): Promise<string[]> {
  const known = new Set(await admin.listTopics());
  const present = names.filter((name) => known.has(name));
  if (present.length === 0) return [];
  const [{ topics }, { resources }] = await Promise.all([
    admin.fetchTopicMetadata({ topics: present }),
    admin.describeConfigs({
      includeSynonyms: false,
      resources: present.map((name) => ({ type: topicResource, name, configNames: [inSyncProperty] })),
    }),
  ]);
  return describeRisks(
    topics.map(({ name, partitions }) => {
      const entries = resources.find(({ resourceName }) => resourceName === name)?.configEntries ?? [];
      const minInSync = Number(entries.find(({ configName }) => configName === inSyncProperty)?.configValue);
      return { name, copies: Math.min(...partitions.map(({ replicas }) => replicas.length)), minInSync };
    }),
  );
}

/** Describes each missing safeguard once for all topics: they mostly share their settings. */
export function describeRisks(topics: readonly TopicSafety[]): string[] {
  const few = topics.filter(({ copies }) => copies < copiesMin);
  const loose = topics.filter(({ minInSync }) => minInSync < inSyncMin);
  const named = (found: readonly TopicSafety[]) => found.map(({ name }) => name).join(", ");
  return [
    ...(few.length > 0 ? [`Kafka has a replication factor below ${copiesMin} for: ${named(few)}`] : []),
    ...(loose.length > 0 ? [`Kafka has ${inSyncProperty} below ${inSyncMin} for: ${named(loose)}`] : []),
  ];
}
