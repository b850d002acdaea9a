import assert from "node:assert/strict";
import { test } from "node:test";
import type { Admin } from "kafkajs";
import { ensureKafkaTopics } from "./kafka-topics.ts";

const spec = {
  name: "signalbox.images.v1",
  partitions: 1,
  cleanup: "delete",
  retentionMs: 1_000,
  maxMessageBytes: 2_000,
} as const;

/** Stands in for a cluster of which some broker has not heard of a new topic for a number of questions. */
function createSlowCluster(unknownFor: { lists: number; settings: number }): Admin {
  const topics = new Map<string, readonly { readonly name: string; readonly value: string }[]>();
  const cluster = {
    listTopics: async () => (topics.size > 0 && unknownFor.lists-- > 0 ? [] : [...topics.keys()]),
    createTopics: async ({ topics: created }: Parameters<Admin["createTopics"]>[0]) => {
      for (const { topic, configEntries = [] } of created) topics.set(topic, configEntries);
      return true;
    },
    fetchTopicMetadata: async () => ({
      topics: [...topics.keys()].map((name) => ({ name, partitions: [{ leader: 1, replicas: [1] }] })),
    }),
    describeConfigs: async ({ resources }: Parameters<Admin["describeConfigs"]>[0]) => {
      if (unknownFor.settings-- > 0) throw Object.assign(new Error(), { type: "UNKNOWN_TOPIC_OR_PARTITION" });
      const entries = (name: string) =>
        (topics.get(name) ?? []).map(({ name: configName, value: configValue }) => ({ configName, configValue }));
      return { resources: resources.map(({ name }) => ({ resourceName: name, configEntries: entries(name) })) };
    },
  };
  return cluster as unknown as Admin;
}

test("new topics are complete although one broker has not heard of them yet", async () => {
  assert.deepEqual(await ensureKafkaTopics(createSlowCluster({ lists: 0, settings: 1 }), [spec]), []);
  assert.deepEqual(await ensureKafkaTopics(createSlowCluster({ lists: 1, settings: 0 }), [spec]), []);
});
