import { setTimeout as sleep } from "node:timers/promises";
import { hours, seconds } from "@signalbox/core";
import kafkajs, { type AclEntry, type Admin, type ITopicMetadata } from "kafkajs";
import { type LogAccess, type TopicProblem, type TopicSpec, UnknownTopic } from "../log/event-log.ts";
import { compactionLagMs } from "../log/topic-settings.ts";
import { linksOf } from "./errors/kafka-errors.ts";

const {
  AclOperationTypes: operation,
  AclPermissionTypes: permission,
  AclResourceTypes: resource,
  ConfigResourceTypes: configured,
  ResourcePatternTypes: pattern,
} = kafkajs;

/**
 * A compacted topic is cleaned segment by segment, never the newest one: without this setting a small topic keeps a
 * week of it.
 */
const compactedSegmentMs = hours(6);
const inSyncProperty = "min.insync.replicas";
const inSyncMin = 2;
const copiesMin = 3;
const leadersMsMax = seconds(30);
const settledMsMax = seconds(10);
const pollMs = 100;

/**
 * Creates missing topics and corrects the settings of others; settings that only an operator made stay. The number of
 * partitions of an existing topic never changes. Returns the remaining differences.
 */
export async function ensureKafkaTopics(admin: Admin, specs: readonly TopicSpec[]): Promise<TopicProblem[]> {
  const { missing, present } = await lookUp(admin, specs);
  if (missing.length > 0) await createTopics(admin, missing);
  const differing = new Set((await configProblems(admin, present)).map(({ topic }) => topic));
  const corrected = present.filter(({ name }) => differing.has(name));
  if (corrected.length > 0) {
    await admin.alterConfigs({ validateOnly: false, resources: await mergedSettings(admin, corrected) });
    await settled(() => configProblems(admin, corrected), settledMsMax);
  }
  const verify = () => verifyKafkaTopics(admin, specs);
  return missing.length > 0 ? settled(verify, settledMsMax) : verify();
}

/** Lists the differences between the topics of the cluster and the wanted ones. */
export async function verifyKafkaTopics(admin: Admin, specs: readonly TopicSpec[]): Promise<TopicProblem[]> {
  const { missing, present } = await lookUp(admin, specs);
  return [
    ...missing.map(({ name }) => ({ topic: name, problem: "is missing" })),
    ...(await partitionProblems(admin, present)),
    ...(await configProblems(admin, present)),
  ];
}

/** Checks that the topics exist before they are read. @throws UnknownTopic */
export async function requireKafkaTopics(admin: Admin, names: readonly string[]): Promise<void> {
  const { missing } = await lookUp(
    admin,
    names.map((name) => ({ name })),
  );
  if (missing[0]) throw new UnknownTopic(missing[0].name);
}

async function lookUp<T extends { readonly name: string }>(admin: Admin, wanted: readonly T[]) {
  const known = new Set(await admin.listTopics());
  const { present = [], missing = [] } = Object.groupBy(wanted, ({ name }) =>
    known.has(name) ? "present" : "missing",
  );
  return { present, missing };
}

/** Creates topics and waits until each partition has a broker: metadata travels to the brokers in moments. */
async function createTopics(admin: Admin, specs: readonly TopicSpec[]): Promise<void> {
  await admin.createTopics({
    waitForLeaders: false,
    topics: specs.map((spec) => ({
      topic: spec.name,
      numPartitions: spec.partitions,
      replicationFactor: spec.replicas ?? -1, // the broker's default
      configEntries: configOf(spec),
    })),
  });
  const leaderless = await settled(async () => {
    const { topics } = await admin.fetchTopicMetadata();
    const led = topics.filter(({ partitions }) => partitions.every(({ leader }) => leader >= 0));
    return specs.filter(({ name }) => !led.some((topic) => topic.name === name)).map(({ name }) => name);
  }, leadersMsMax);
  if (leaderless.length === 0) return;
  throw new Error(`partitions of new topics have no broker after ${leadersMsMax} ms: ${leaderless.join(", ")}`);
}

async function partitionProblems(admin: Admin, specs: readonly TopicSpec[]): Promise<TopicProblem[]> {
  if (specs.length === 0) return [];
  const { topics } = await admin.fetchTopicMetadata({ topics: specs.map(({ name }) => name) });
  return specs.flatMap(({ name, partitions, replicas, cleanup }) => {
    const has = topics.find((topic) => topic.name === name)?.partitions ?? [];
    const copies = copiesOf(has);
    const problems: string[] = [];
    // A state topic is read in the order of its one partition.
    if (cleanup === "compact" ? has.length !== partitions : has.length < partitions)
      problems.push(`has ${has.length} partitions instead of ${partitions}; a change would move keys`);
    if (replicas !== undefined && copies !== replicas)
      problems.push(`has ${copies} copies instead of ${replicas}; kafka-reassign-partitions.sh makes them`);
    return problems.map((problem) => ({ topic: name, problem }));
  });
}

/** Returns the copies of the partition with the fewest. */
const copiesOf = (partitions: ITopicMetadata["partitions"]): number =>
  Math.min(...partitions.map(({ replicas }) => replicas.length));

async function configProblems(admin: Admin, specs: readonly TopicSpec[]): Promise<TopicProblem[]> {
  const properties = new Set(specs.flatMap(configOf).map(({ name }) => name));
  const names = specs.map(({ name }) => name);
  const settingsOf = await readSettings(admin, configured.TOPIC, names, [...properties]);
  return specs.flatMap((spec) =>
    configOf(spec).flatMap(({ name, value }) => {
      const has = settingsOf.get(spec.name)?.get(name);
      return has === value ? [] : [{ topic: spec.name, problem: `${name} is ${has} instead of ${value}` }];
    }),
  );
}

/** The source that the broker names for a setting of the topic itself. */
const ofTopic = 1;

/** Joins our settings with the others that topics have: the request replaces all of them. */
async function mergedSettings(admin: Admin, specs: readonly TopicSpec[]) {
  const asked = specs.map(({ name }) => ({ type: configured.TOPIC, name }));
  const answer = await admin.describeConfigs({ includeSynonyms: false, resources: asked });
  return specs.map((spec) => {
    const ours = configOf(spec);
    const others = (answer.resources.find(({ resourceName }) => resourceName === spec.name)?.configEntries ?? [])
      .filter(({ configSource }) => configSource === ofTopic)
      .map(({ configName, configValue }) => ({ name: configName, value: configValue }))
      .filter(({ name }) => !ours.some((one) => one.name === name));
    return { type: configured.TOPIC, name: spec.name, configEntries: [...others, ...ours] };
  });
}

function configOf(spec: TopicSpec): { name: string; value: string }[] {
  const common = [
    { name: "cleanup.policy", value: spec.cleanup },
    { name: "max.message.bytes", value: String(spec.maxMessageBytes) },
    { name: "compression.type", value: "producer" }, // the broker then decompresses nothing to compress it anew
    ...(spec.minInSync === undefined ? [] : [{ name: inSyncProperty, value: String(spec.minInSync) }]),
  ];
  if (spec.cleanup === "delete") return [...common, { name: "retention.ms", value: String(spec.retentionMs) }];
  return [
    ...common,
    { name: "delete.retention.ms", value: String(spec.retentionMs) },
    { name: "min.compaction.lag.ms", value: String(compactionLagMs) },
    { name: "segment.ms", value: String(compactedSegmentMs) },
  ];
}

/** Reads settings of topics or brokers: the values of the properties, by name. */
export async function readSettings(admin: Admin, type: number, names: readonly string[], properties: string[]) {
  if (names.length === 0) return new Map<string, Map<string, string>>();
  const resources = names.map((name) => ({ type, name, configNames: properties }));
  const answer = await onceKnown(() => admin.describeConfigs({ includeSynonyms: false, resources }));
  return new Map(
    answer.resources.map(({ resourceName, configEntries }) => {
      return [resourceName, new Map(configEntries.map(({ configName, configValue }) => [configName, configValue]))];
    }),
  );
}

/** Repeats the question while a broker has not heard yet of a topic that another one lists. */
async function onceKnown<T>(ask: () => Promise<T>): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    try {
      return await ask();
    } catch (error) {
      const isUnknown = [...linksOf(error)].some(({ type }) => type === "UNKNOWN_TOPIC_OR_PARTITION");
      if (!isUnknown || waitedMs >= settledMsMax) throw error;
    }
    await sleep(pollMs);
  }
}

/**
 * Repeats the question until no problem is left, and returns the remaining ones in the end: a change reaches the
 * controller at once, and the brokers a moment later.
 */
async function settled<T>(ask: () => Promise<T[]>, waitMsMax: number): Promise<T[]> {
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const problems = await ask();
    if (problems.length === 0 || waitedMs >= waitMsMax) return problems;
    await sleep(pollMs);
  }
}

/** The safety settings of a topic. */
export interface TopicSafety {
  readonly name: string;
  /** Of the partition with the fewest. */
  readonly copies: number;
  readonly minInSync: number;
}

/** Lists, one sentence each, the reasons why existing topics can lose acknowledged records. */
export async function kafkaRisks(admin: Admin, names: readonly string[]): Promise<string[]> {
  const known = new Set(await admin.listTopics());
  const present = names.filter((name) => known.has(name));
  if (present.length === 0) return [];
  const [{ topics }, settingsOf] = await Promise.all([
    admin.fetchTopicMetadata({ topics: present }),
    readSettings(admin, configured.TOPIC, present, [inSyncProperty]),
  ]);
  return describeRisks(
    topics.map(({ name, partitions }) => {
      const minInSync = Number(settingsOf.get(name)?.get(inSyncProperty));
      return { name, copies: copiesOf(partitions), minInSync };
    }),
  );
}

/** Describes each missing safeguard once for all topics: they mostly share their settings. */
export function describeRisks(topics: readonly TopicSafety[]): string[] {
  const few = topics.filter(({ copies }) => copies < copiesMin).map(({ name }) => name);
  const loose = topics.filter(({ minInSync }) => minInSync < inSyncMin).map(({ name }) => name);
  return [
    ...(few.length > 0 ? [`Kafka has a replication factor below ${copiesMin} for: ${few.join(", ")}`] : []),
    ...(loose.length > 0 ? [`Kafka has ${inSyncProperty} below ${inSyncMin} for: ${loose.join(", ")}`] : []),
  ];
}

/** Common prefix of our topics; every principal may read their settings. */
const ourTopics = "signalbox.";

/**
 * Adds the missing rights of each principal and removes those that the table does not give. Returns the remaining
 * differences.
 */
export async function ensureKafkaAccess(admin: Admin, access: readonly LogAccess[]): Promise<string[]> {
  for (const wanted of access) {
    const { missing, surplus } = await difference(admin, wanted);
    if (missing.length > 0) await admin.createAcls({ acl: missing });
    if (surplus.length > 0) await admin.deleteAcls({ filters: surplus });
  }
  return settled(() => verifyKafkaAccess(admin, access), settledMsMax);
}

/** Lists the missing rights of each principal, and the surplus ones. */
export async function verifyKafkaAccess(admin: Admin, access: readonly LogAccess[]): Promise<string[]> {
  const problems: string[] = [];
  for (const wanted of access) {
    const { missing, surplus } = await difference(admin, wanted);
    problems.push(...missing.map((entry) => `${wanted.principal} may not ${describe(entry)}`));
    problems.push(...surplus.map((entry) => `${wanted.principal} may ${describe(entry)}, which it does not need`));
  }
  return problems;
}

async function difference(admin: Admin, wanted: LogAccess): Promise<{ missing: AclEntry[]; surplus: AclEntry[] }> {
  const has = await entriesOf(admin, wanted.principal);
  const needs = neededBy(wanted);
  const outside = (entries: readonly AclEntry[]) => {
    const texts = new Set(entries.map(textOf));
    return (entry: AclEntry) => !texts.has(textOf(entry));
  };
  return { missing: needs.filter(outside(has)), surplus: has.filter(outside(needs)) };
}

async function entriesOf(admin: Admin, principal: string): Promise<AclEntry[]> {
  const filter = {
    principal,
    resourceType: resource.ANY,
    resourcePatternType: pattern.ANY,
    operation: operation.ANY,
    permissionType: permission.ANY,
  };
  const { resources } = await admin.describeAcls(filter).catch((error: unknown) => {
    if (![...linksOf(error)].some(({ type }) => type === "SECURITY_DISABLED")) throw error;
    throw new Error("The broker enforces no access rights. Set authorizer.class.name.", { cause: error });
  });
  return resources.flatMap(({ acls, resourceType, resourceName, resourcePatternType }) =>
    acls.map((acl) => ({ ...acl, resourceType, resourceName, resourcePatternType })),
  );
}

/**
 * Lists the needed ACL entries. Reading and writing imply describing; the others are for requests that the client makes
 * on its way.
 */
function neededBy(access: LogAccess): AclEntry[] {
  const { principal } = access;
  const to = (...operations: number[]) => ({
    on: (resourceType: number, resourcePatternType: number, resourceName: string): AclEntry[] =>
      operations.map((one) => ({
        principal,
        host: "*",
        permissionType: permission.ALLOW,
        operation: one,
        resourceType,
        resourcePatternType,
        resourceName,
      })),
  });
  if ("watchesAll" in access)
    return [
      ...[resource.TOPIC, resource.GROUP].flatMap((one) => to(operation.DESCRIBE).on(one, pattern.LITERAL, "*")),
      ...to(operation.DESCRIBE).on(resource.CLUSTER, pattern.LITERAL, "kafka-cluster"),
    ];
  const { writes, reads, groupPrefix, describedGroups } = access;
  return [
    ...writes.flatMap((topic) => to(operation.WRITE).on(resource.TOPIC, pattern.LITERAL, topic)),
    ...reads.flatMap((topic) => to(operation.READ).on(resource.TOPIC, pattern.LITERAL, topic)),
    ...to(operation.DESCRIBE, operation.DESCRIBE_CONFIGS).on(resource.TOPIC, pattern.PREFIXED, ourTopics),
    // For the shortest session that the brokers allow.
    ...to(operation.DESCRIBE_CONFIGS).on(resource.CLUSTER, pattern.LITERAL, "kafka-cluster"),
    // Groups that a reader uses once are deleted with it.
    ...to(operation.READ, operation.DELETE).on(resource.GROUP, pattern.PREFIXED, groupPrefix),
    ...describedGroups.flatMap((prefix) => to(operation.DESCRIBE).on(resource.GROUP, pattern.PREFIXED, prefix)),
  ];
}

const textOf = ({ resourceType, resourceName, resourcePatternType, operation, permissionType, host }: AclEntry) =>
  [resourceType, resourceName, resourcePatternType, operation, permissionType, host].join(" ");

function describe(entry: AclEntry): string {
  const word = (words: object, value: number) =>
    (Object.entries(words).find(([, number]) => number === value)?.[0] ?? String(value)).toLowerCase();
  const kind = word(resource, entry.resourceType);
  const rest = entry.resourcePatternType === pattern.PREFIXED ? "*" : "";
  return `${word(operation, entry.operation)} the ${kind} ${entry.resourceName}${rest}`;
}
