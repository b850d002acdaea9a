import { schemaRegistry } from "@signalbox/contracts";

import type { Admin, Kafka } from "kafkajs";
import type { EventLog, EventLogContext } from "../log/event-log.ts";
import { ReplacedTopics } from "../log/replaced-topics.ts";
import { groupSessionMs } from "./group-session.ts";
import { skipKafkaBatch } from "./halted-partitions.ts";
import { openKafkaBroadcast } from "./kafka-broadcast.ts";
import { kafkaGroups, kafkaLag, kafkaMembers, kafkaRanges, rewindKafkaGroup } from "./kafka-groups.ts";
import { KafkaPublisher, publishTimeouts } from "./kafka-publish.ts";
import { openKafkaSubscription } from "./kafka-subscription.ts";
import {
  ensureKafkaAccess,
  ensureKafkaTopics,
  kafkaRisks,
  verifyKafkaAccess,
  verifyKafkaTopics,
} from "./kafka-topics.ts";
import { parseKafkaUrl } from "./kafka-url.ts";
import { type CreateClient, createKafka } from "./kafkajs.ts";

/** Creates the event log on Apache Kafka: `kafka://host:port,host:port`. Connects on first use. */
export function createKafkaEventLog(url: string, context: EventLogContext): EventLog {
  const { clientId, log, clock, baseUrl } = context;
  const { brokers, security } = parseKafkaUrl(url);
  const openParts: { close(): Promise<void> }[] = [];
  const { admin, disconnect } = connectWhenNeeded(createKafka(brokers, clientId, log, security));
  let trouble: string | null = null;

  const createClient = (socketFactory: Parameters<CreateClient>[0], timeouts = {}) =>
    createKafka(brokers, clientId, log, { ...security, ...timeouts, socketFactory });
  const publisher = new KafkaPublisher({
    createClient: (socketFactory) => createClient(socketFactory, publishTimeouts),
    admin,
    schemaHeaders: baseUrl === undefined ? new Map() : schemaRegistry.headers(baseUrl),
    clock,
  });
  const parts = { ...context, createClient, admin, ping: pingOf(admin), replacedTopics: new ReplacedTopics(context) };
  let sessionMs: Promise<number> | undefined;

  return {
    kind: "kafka",
    async publish(records, signal) {
      if (records.length === 0) return;
      try {
        await publisher.publish(records, signal);
        trouble = null;
      } catch (error) {
        trouble = (error as Error).message;
        throw error;
      }
    },
    async subscribe(options) {
      sessionMs ??= admin().then((client) => groupSessionMs(client, log));
      sessionMs.catch(() => {
        sessionMs = undefined;
      });
      const sessionTimeoutMs = options.sessionTimeoutMs ?? (await sessionMs);
      const subscription = await openKafkaSubscription(parts, { ...options, sessionTimeoutMs });
      openParts.push(subscription);
      return subscription;
    },
    async broadcast(options) {
      const reader = openKafkaBroadcast(parts, options);
      openParts.push(reader);
      return reader;
    },
    onReplaced: (topic, listener) => parts.replacedTopics.listen(topic, listener),
    ensureTopics: async (specs) => ensureKafkaTopics(await admin(), specs),
    verifyTopics: async (specs) => verifyKafkaTopics(await admin(), specs),
    ensureAccess: async (access) => ensureKafkaAccess(await admin(), access),
    verifyAccess: async (access) => verifyKafkaAccess(await admin(), access),
    risks: async (topics) => kafkaRisks(await admin(), topics),
    groups: async () => kafkaGroups(await admin()),
    lag: async (group, topics) => kafkaLag(await admin(), clock, group, topics),
    members: async (group) => kafkaMembers(await admin(), group),
    ranges: async (topics) => kafkaRanges(await admin(), topics),
    rewind: async (group, to) => rewindKafkaGroup(await admin(), group, to),
    skip: async (group, place) => skipKafkaBatch(await admin(), group, place),
    health: () => trouble,
    async close() {
      await Promise.allSettled(openParts.splice(0).map((part) => part.close()));
      await publisher.close();
      await disconnect();
    },
  };
}

const pingOf = (admin: () => Promise<Admin>) => async () => (await admin()).describeCluster();

/** Shares one admin connection, opened when needed and again after it failed. */
function connectWhenNeeded(kafka: Kafka) {
  let connecting: Promise<Admin> | undefined;
  const forget = () => {
    connecting = undefined;
  };
  return {
    async admin(): Promise<Admin> {
      if (connecting) return connecting;
      const client = kafka.admin({ retry: { retries: 3, initialRetryTime: 100, maxRetryTime: 1_000 } });
      client.on("admin.disconnect", forget);
      connecting = client.connect().then(() => client);
      connecting.catch(forget);
      return connecting;
    },
    disconnect: async () => connecting?.then((client) => client.disconnect()).catch(() => {}),
  };
}
