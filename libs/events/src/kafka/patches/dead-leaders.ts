import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "@signalbox/core";
import type { TopicPartition } from "../../log/event-log.ts";
import { isAway } from "../errors/kafka-errors.ts";
import { noLeader } from "./leaderless-partitions.ts";
import "./undecodable-batches.ts"; // first: a halted partition counts as one that did not answer

/** The part of a cluster's broker pool that says when its metadata is old. */
export interface Metadata {
  /** Null makes the client ask the brokers again before the next fetch. */
  metadataExpireAt: number | null;
}

interface ConsumerGroup {
  readonly memberId: string | null;
  /** The topics of which this member has a partition. */
  readonly topics: readonly string[];
  readonly cluster: {
    readonly brokerPool: Metadata;
    findTopicPartitionMetadata(topic: string): readonly { readonly leader: number }[];
    refreshMetadata(): Promise<void>;
  };
  fetch(nodeId: string): Promise<readonly TopicPartition[]>;
  recoverFromFetch(error: unknown): Promise<void>;
}

type Listener = (answered: readonly TopicPartition[]) => void;

const listeners = new Map<string, Listener>();
/** Interval between requests to a broker that is away. */
const pauseMs = 250;

/** Calls the listener with the partitions of each answered fetch of the member, with or without news. */
export function onFetched(memberId: string, listener: Listener): () => void {
  listeners.set(memberId, listener);
  return () => void listeners.delete(memberId);
}

/**
 * Fault: when the leader of some partitions is away, the group is joined again and every fetcher stops. Here only the
 * fetcher of that broker waits, and new leaders are asked for.
 * Seen in kafkajs 2.2.4. Upstream: tulios/kafkajs#335.
 */
const group: ConsumerGroup = createRequire(import.meta.url)("kafkajs/src/consumer/consumerGroup.js").prototype;
const { fetch, recoverFromFetch } = group;

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

function lacksLeader({ cluster, topics }: ConsumerGroup): boolean {
  return topics.some((topic) => cluster.findTopicPartitionMetadata(topic).some(({ leader }) => leader === noLeader));
}

const askedMs = new WeakMap<Metadata, number>();

/** Makes the client ask for the leaders before the next fetch. */
export function askForLeaders(metadata: Metadata): void {
  const nowMs = systemClock.steadyMs();
  if (nowMs - (askedMs.get(metadata) ?? Number.NEGATIVE_INFINITY) < pauseMs) return;
  askedMs.set(metadata, nowMs);
  metadata.metadataExpireAt = null;
}
