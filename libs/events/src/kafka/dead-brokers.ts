import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "@signalbox/core";
import type { TopicPartition } from "../event-log.ts";
import { isAway } from "./kafka-errors.ts";

interface Broker {
  isConnected(): boolean;
}

interface BrokerPool {
  readonly brokers: Readonly<Record<string, Broker>>;
  /** Null makes the client ask the brokers again before the next fetch. */
  metadataExpireAt: number | null;
  findBroker(node: { nodeId: string }): Promise<Broker>;
  withBroker<T>(work: (found: { nodeId: string; broker: Broker }) => Promise<T>): Promise<T>;
}

interface TopicOffsets {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
}

type WantedOffsets = Omit<TopicOffsets, "partitions"> & { readonly partitions: readonly { partition: number }[] };

interface Cluster {
  readonly brokerPool: BrokerPool;
  findGroupCoordinator(group: { groupId: string }): Promise<Broker>;
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number; readonly leader: number }[];
  fetchTopicsOffset(this: Cluster, wanted: readonly WantedOffsets[]): Promise<readonly TopicOffsets[]>;
  refreshMetadata(): Promise<void>;
}

interface ConsumerGroup {
  readonly groupId: string;
  readonly memberId: string | null;
  /** The topics of which this member has a partition. */
  readonly topics: readonly string[];
  readonly cluster: Cluster;
  readonly offsetManager: OffsetManager | null;
  coordinator: Broker;
  fetch(nodeId: string): Promise<readonly TopicPartition[]>;
  recoverFromFetch(error: unknown): Promise<void>;
  heartbeat(options: { interval: number }): Promise<void>;
}

interface OffsetManager {
  cluster: Cluster;
  coordinator: Broker;
  resolveOffsets(): Promise<void>;
}

type Listener = (answered: readonly TopicPartition[]) => void;

const listeners = new Map<string, Listener>();

/** Calls the listener with the partitions of each answered fetch of the member, with or without news. */
export function onFetched(memberId: string, listener: Listener): () => void {
  listeners.set(memberId, listener);
  return () => void listeners.delete(memberId);
}

/** Interval between requests to a broker that is away. */
const pauseMs = 250;
const noLeader = -1;

const load = <T>(path: string): T => createRequire(import.meta.url)(`kafkajs/src/${path}.js`).prototype as T;

/** Tries living brokers first: kafkajs 2.2.4 asks them in any order and gives up when the first does not connect. */
function askLivingBrokersFirst(): void {
  load<BrokerPool>("cluster/brokerPool").withBroker = async function withBroker(this: BrokerPool, work) {
    const nodeIds = Object.keys(this.brokers).sort(() => Math.random() - 0.5);
    const living = nodeIds.filter((nodeId) => this.brokers[nodeId]?.isConnected());
    let failure: unknown = new Error("no broker is known");
    for (const nodeId of new Set([...living, ...nodeIds])) {
      try {
        return await work({ nodeId, broker: await this.findBroker({ nodeId }) });
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  };
}

/**
 * Keeps reading without one broker. kafkajs stops reading everywhere: for the broker of some partitions it joins the
 * group again, for that of the group's offsets it gives up. Here only the reader of that broker waits, and a member
 * whose coordinator is away continues until it may have been taken for dead.
 */
function readOnWithoutABroker(): void {
  const group = load<ConsumerGroup>("consumer/consumerGroup");
  const { fetch, recoverFromFetch, heartbeat } = group;

  group.fetch = async function fetchFromLeaders(this: ConsumerGroup, nodeId) {
    if (lacksLeader(this)) askForLeaders(this.cluster.brokerPool);
    const batches = await fetch.call(this, nodeId);
    if (batches.length > 0) listeners.get(this.memberId ?? "")?.(batches);
    return batches;
  };
  group.recoverFromFetch = async function waitForBroker(this: ConsumerGroup, error) {
    if (!isAway(error)) return recoverFromFetch.call(this, error);
    await this.cluster.refreshMetadata().catch(() => {});
    await sleep(pauseMs);
  };
  group.heartbeat = async function beatOrFindCoordinator(this: ConsumerGroup, options) {
    try {
      await heartbeat.call(this, options);
    } catch (error) {
      if (!isAway(error)) throw error;
      void findCoordinator(this); // reading does not wait for it
    }
  };
}

const searching = new WeakSet<ConsumerGroup>();

async function findCoordinator(group: ConsumerGroup): Promise<void> {
  if (searching.has(group)) return;
  searching.add(group);
  const coordinator = await group.cluster.findGroupCoordinator({ groupId: group.groupId }).catch(() => null);
  searching.delete(group);
  if (!coordinator) return;
  group.coordinator = coordinator;
  if (group.offsetManager) group.offsetManager.coordinator = coordinator;
}

function lacksLeader({ cluster, topics }: ConsumerGroup): boolean {
  return topics.some((topic) => cluster.findTopicPartitionMetadata(topic).some(({ leader }) => leader === noLeader));
}

const askedMs = new WeakMap<BrokerPool, number>();

function askForLeaders(pool: BrokerPool): void {
  const nowMs = systemClock.steadyMs();
  if (nowMs - (askedMs.get(pool) ?? Number.NEGATIVE_INFINITY) < pauseMs) return;
  askedMs.set(pool, nowMs);
  pool.metadataExpireAt = null;
}

/**
 * Starts reading without one broker. kafkajs reads no partition until it knows the start offset of each; here
 * partitions without a broker are left out and asked for again before the next fetch.
 */
function beginWithoutABroker(): void {
  const offsets = load<OffsetManager>("consumer/offsetManager/index");
  const { resolveOffsets } = offsets;
  offsets.resolveOffsets = function resolveWhatIsKnown(this: OffsetManager) {
    // The cluster belongs to this consumer; that of an admin client must fail when an answer is incomplete.
    if (!Object.hasOwn(this.cluster, "fetchTopicsOffset")) this.cluster.fetchTopicsOffset = offsetsOfLiving;
    return resolveOffsets.call(this);
  };
}

const { fetchTopicsOffset } = load<Cluster>("cluster/index");

async function offsetsOfLiving(this: Cluster, wanted: readonly WantedOffsets[]): Promise<readonly TopicOffsets[]> {
  const questions = wanted.flatMap((one) => {
    const leaderOf = new Map(
      this.findTopicPartitionMetadata(one.topic).map((known) => [known.partitionId, known.leader]),
    );
    const apart = Map.groupBy(one.partitions, ({ partition }) => leaderOf.get(partition) ?? noLeader);
    return [...apart].filter(([leader]) => leader !== noLeader).map(([, partitions]) => ({ ...one, partitions }));
  });
  const asked = questions.map((question) =>
    fetchTopicsOffset.call(this, [question]).catch((error: unknown) => {
      if (!isAway(error)) throw error;
      // Nothing is fetched without an offset, so no fetch would find out that another broker leads by now.
      askForLeaders(this.brokerPool);
      return [];
    }),
  );
  const answers = (await Promise.all(asked)).flat();
  return wanted.map(({ topic }) => ({
    topic,
    partitions: answers.filter((answer) => answer.topic === topic).flatMap(({ partitions }) => partitions),
  }));
}

askLivingBrokersFirst();
readOnWithoutABroker();
beginWithoutABroker();
