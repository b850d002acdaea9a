import { setTimeout as sleep } from "node:timers/promises";
import type { Admin } from "kafkajs";
import { type TopicProblem, type TopicSpec, UnknownTopic } from "../event-log.ts";
import { compactionLagMs } from "../topic-settings.ts";
import { topicResource } from "./kafkajs.ts";

interface ConfigEntry {
  readonly name: string;
  readonly value: string;
}

/**
 * A compacted topic is cleaned segment by segment, never the newest one: without this setting a small topic keeps a
 * week of it.
 */
const compactedSegmentMs = 6 * 60 * 60 * 1000;

const leadersMsMax = 30_000;
const leadersPollMs = 100;

/**
 * Creates missing topics and corrects the settings of others. The number of partitions of an existing topic never
 * changes. Returns the remaining differences.
 */
export async function ensureKafkaTopics(admin: Admin, specs: readonly TopicSpec[]): Promise<TopicProblem[]> {
  const known = new Set(await admin.listTopics());
  const missing = specs.filter(({ name }) => !known.has(name));
  if (missing.length > 0) {
    await admin.createTopics({
      waitForLeaders: false,
      topics: missing.map((spec) => ({
        topic: spec.name,
        numPartitions: spec.partitions,
        replicationFactor: spec.replicas ?? -1, // the broker's default
        configEntries: configOf(spec),
      })),
    });
    await waitForLeaders(
      admin,
      missing.map(({ name }) => name),
    );
  }
  const present = specs.filter(({ name }) => known.has(name));
  const differing = (await configProblems(admin, present)).map(({ topic }) => topic);
  const corrected = present.filter(({ name }) => differing.includes(name));
  if (corrected.length > 0) {
    await admin.alterConfigs({
      validateOnly: false,
      resources: corrected.map((spec) => ({
        type: topicResource,
        name: spec.name,
        configEntries: configOf(spec),
      })),
    });
    await settled(() => configProblems(admin, corrected));
  }
  return verifyKafkaTopics(admin, specs);
}

/** Waits until each partition has a broker. Metadata travels from the controller to the brokers in moments. */
async function waitForLeaders(admin: Admin, names: readonly string[]): Promise<void> {
  for (let waitedMs = 0; waitedMs < leadersMsMax; waitedMs += leadersPollMs) {
    const { topics } = await admin.fetchTopicMetadata();
    const ready = topics.filter(({ partitions }) => partitions.every(({ leader }) => leader >= 0));
    if (names.every((name) => ready.some((topic) => topic.name === name))) return;
    await sleep(leadersPollMs);
  }
  throw new Error(`partitions of new topics have no broker after ${leadersMsMax} ms: ${names.join(", ")}`);
}

/** Lists the differences between the topics of the cluster and the wanted ones. */
export async function verifyKafkaTopics(admin: Admin, specs: readonly TopicSpec[]): Promise<TopicProblem[]> {
  const known = new Set(await admin.listTopics());
  const present = specs.filter(({ name }) => known.has(name));
  const missing = specs
    .filter(({ name }) => !known.has(name))
    .map(({ name }) => ({ topic: name, problem: "is missing" }));
  return [...missing, ...(await partitionProblems(admin, present)), ...(await configProblems(admin, present))];
}

/** Checks that the topics exist before they are read. @throws UnknownTopic */
export async function requireKafkaTopics(admin: Admin, names: readonly string[]): Promise<void> {
  const known = new Set(await admin.listTopics());
  const missing = names.find((name) => !known.has(name));
  if (missing !== undefined) throw new UnknownTopic(missing);
}

async function partitionProblems(admin: Admin, specs: readonly TopicSpec[]): Promise<TopicProblem[]> {
  if (specs.length === 0) return [];
  const { topics } = await admin.fetchTopicMetadata({ topics: specs.map(({ name }) => name) });
  return specs.flatMap(({ name, partitions, replicas }) => {
    const has = topics.find((topic) => topic.name === name)?.partitions ?? [];
    const copies = Math.min(...has.map((partition) => partition.replicas.length));
    const problems: string[] = [];
    if (has.length !== partitions)
      problems.push(`has ${has.length} partitions instead of ${partitions}; a change would move keys`);
    if (replicas !== undefined && copies !== replicas)
      problems.push(`has ${copies} copies instead of ${replicas}; kafka-reassign-partitions.sh makes them`);
    return problems.map((problem) => ({ topic: name, problem }));
  });
}

async function configProblems(admin: Admin, specs: readonly TopicSpec[]): Promise<TopicProblem[]> {
  if (specs.length === 0) return [];
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: specs.map((spec) => ({
      type: topicResource,
      name: spec.name,
      configNames: configOf(spec).map(({ name }) => name),
    })),
  });
  return specs.flatMap((spec) => {
    const entries = resources.find(({ resourceName }) => resourceName === spec.name)?.configEntries ?? [];
    return configOf(spec).flatMap(({ name, value }) => {
      const has = entries.find(({ configName }) => configName === name)?.configValue;
      return has === value ? [] : [{ topic: spec.name, problem: `${name} is ${has} instead of ${value}` }];
    });
  });
}

function configOf(spec: TopicSpec): ConfigEntry[] {
  const common = [
    { name: "cleanup.policy", value: spec.cleanup },
    { name: "max.message.bytes", value: String(spec.maxMessageBytes) },
    ...(spec.minInSync === undefined ? [] : [{ name: "min.insync.replicas", value: String(spec.minInSync) }]),
  ];
  if (spec.cleanup === "delete") return [...common, { name: "retention.ms", value: String(spec.retentionMs) }];
  return [
    ...common,
    { name: "delete.retention.ms", value: String(spec.retentionMs) },
    { name: "min.compaction.lag.ms", value: String(compactionLagMs) },
    { name: "segment.ms", value: String(compactedSegmentMs) },
  ];
}

const waitMsMax = 10_000;
const pollMs = 100;

/**
 * Repeats the question until no problem is left, and returns the remaining ones in the end: a change reaches the
 * controller at once, and the brokers a moment later.
 */
export async function settled<T>(ask: () => Promise<readonly T[]>): Promise<T[]> {
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const problems = await ask();
    if (problems.length === 0 || waitedMs >= waitMsMax) return [...problems];
    await sleep(pollMs);
  }
}
