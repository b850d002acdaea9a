import { fileURLToPath } from "node:url";
import { migrate, openPool, sql, unsafeSettings } from "@signalbox/storage";
import type { EventLog, EventLogContext } from "../log/event-log.ts";
import { ReplacedTopics } from "../log/replaced-topics.ts";
import { appendRecords } from "./log-records.ts";
import { openPostgresBroadcast } from "./postgres-broadcast.ts";
import {
  postgresGroups,
  postgresLag,
  postgresMembers,
  postgresRanges,
  rewindPostgresGroup,
} from "./postgres-groups.ts";
import { openPostgresSubscription } from "./postgres-subscription.ts";
import { startLogRetention } from "./retention-and-compaction.ts";
import { createTopicCache } from "./topic-cache.ts";
import { createWakeUps } from "./wake-ups.ts";

const migrations = { library: "event-log", directory: fileURLToPath(new URL("../../log-migrations", import.meta.url)) };

const one = sql("log.ping", "select 1");

const withoutPrincipals = "an event log on PostgreSQL has no principals: remove events.principals";

/** One for listening, the rest for appends, reads and heartbeats. */
const connectionsMax = 6;

/** Opens the event log in a PostgreSQL database of its own, which is created and migrated here. For one host. */
export async function openPostgresEventLog(url: string, context: EventLogContext): Promise<EventLog> {
  const { clientId, log, metrics, clock, runner } = context;
  await migrate({ url, service: "event-log", prismaDirectory: null, libraryMigrations: [migrations], log });
  const pool = openPool({
    url,
    max: connectionsMax,
    applicationName: `${clientId} event log`,
    log,
    metrics,
    runner: { defer: () => {} }, // closed below, after its users
  });
  const topics = createTopicCache(pool);
  const wakeUps = createWakeUps(pool, url);
  const ping = () => pool.query(one);
  const replacedTopics = new ReplacedTopics({ log, metrics });
  const parts = { pool, ping, topics, wakeUps, log, metrics, clock, replacedTopics };
  const openParts: { close(): Promise<void> }[] = [];
  let trouble: string | null = null;

  if (runner) startLogRetention(runner, pool, log);

  return {
    kind: "postgres",
    async publish(records) {
      if (records.length === 0) return;
      try {
        await appendRecords(pool, topics, records);
        trouble = null;
      } catch (error) {
        trouble = (error as Error).message;
        throw error;
      }
      wakeUps.announceRecords(records.map(({ topic }) => topic));
    },
    async subscribe(options) {
      const subscription = await openPostgresSubscription(parts, options);
      openParts.push(subscription);
      return subscription;
    },
    async broadcast(options) {
      const reader = openPostgresBroadcast(parts, options);
      openParts.push(reader);
      return reader;
    },
    onReplaced: (topic, listener) => replacedTopics.listen(topic, listener),
    ensureTopics: (specs) => topics.ensure(specs),
    verifyTopics: (specs) => topics.verify(specs),
    ensureAccess: async () => [withoutPrincipals],
    verifyAccess: async () => [withoutPrincipals],
    risks: () => unsafeSettings(pool),
    groups: () => postgresGroups(pool),
    lag: (group, names) => postgresLag(pool, group, names),
    members: (group) => postgresMembers(pool, group),
    ranges: (names) => postgresRanges(pool, topics, names),
    rewind: (group, to) => rewindPostgresGroup(pool, group, to),
    skip: () => Promise.reject(new Error("The log on PostgreSQL has no batches that cannot be decoded.")),
    health: () => trouble,
    async close() {
      await Promise.allSettled(openParts.splice(0).map((part) => part.close()));
      await wakeUps.close();
      await pool.close();
    },
  };
}
