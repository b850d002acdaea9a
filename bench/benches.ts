import type { BenchResult } from "./history.ts";

interface BenchOptions {
  /** Shortens a bench that takes long. */
  readonly seconds?: number;
}

interface Bench {
  readonly description: string;
  readonly load: () => Promise<{ run(options?: BenchOptions): Promise<BenchResult> }>;
}

/** Each bench measures its baseline in the same run, because absolute figures say more about the machine than about the code. */
export const benches: Readonly<Record<string, Bench>> = {
  http: {
    description: "A typed route with credentials, limits, parsing and request log, against bare Express 5.",
    load: () => import("./http.ts"),
  },
  account: {
    description:
      "The account service on PostgreSQL and its event log: reads against bare Express 5 with the same bytes, changes with event and audit entry, latency at half of each maximum.",
    load: () => import("./account.ts"),
  },
  outbox: {
    description:
      "Committed events of 1 KB through one service's relay to Kafka, against publishing the same without an outbox.",
    load: () => import("./outbox.ts"),
  },
  log: {
    description: "Events of 1 KB published and then consumed by one group, on each adapter of the event log.",
    load: () => import("./log.ts"),
  },
  delivery: {
    description:
      "Events of 1 KB to ten endpoints: a backlog, against a Node process that posts as much from memory; 200 a second on the log and over HTTP, also beside endpoints that hang; a million waiting.",
    load: () => import("./delivery.ts"),
  },
  publish: {
    description:
      "One account that publishes events of 1 KB over HTTP on PostgreSQL with fsync, against a server that only answers; the same beside an endpoint that refuses connections.",
    load: () => import("./publish.ts"),
  },
  pull: {
    description:
      "Messages of 1 KB of a pull endpoint on PostgreSQL with fsync: 200 a second to waiting polls, also beside a consumer that is a million behind, and a backlog.",
    load: () => import("./pull.ts"),
  },
  why: {
    description:
      "Chains behind ids of one account with a million deliveries over thirty days, on an embedded system: p99 by kind of id.",
    load: () => import("./why.ts"),
  },
  statistics: {
    description:
      "Batches of 64 attempts with and without their figures on PostgreSQL with fsync, and reads of the statistics of 30 days and a million deliveries.",
    load: () => import("./statistics.ts"),
  },
  small: {
    description:
      "Memory of the small deployment and of what watches it, at some tens of requests a second, against 1 GiB.",
    load: () => import("./small.ts"),
  },
  start: {
    description: "`npm start` until every service serves, in an empty folder and then on its data.",
    load: () => import("./start.ts"),
  },
  memory: {
    description:
      "Resident memory of the embedded system at rest and after a minute of load, and of seven idle processes on engines.",
    load: () => import("./memory.ts"),
  },
  cold: {
    description:
      "Publishing, ingest and queries in the first minute after a start of the embedded system on its data, against the minute after it.",
    load: () => import("./cold.ts"),
  },
  growth: {
    description:
      "What grows: endpoints, due deliveries, a month of attempts, publishing accounts, open streams, images, processes on the engines; each against the same system while it is small. It takes 40 minutes and 30 GB of disk.",
    load: () => import("./growth.ts"),
  },
  costs: {
    description:
      "Round trips to PostgreSQL, WAL and statements of one call of each hot operation of the embedded system, with the consumers and workers behind it.",
    load: () => import("./costs.ts"),
  },
  images: {
    description:
      "The images service against sharp alone on the same file: cold renditions, floods, stored renditions, memory.",
    load: () => import("./images.ts"),
  },
  federation: {
    description: "The executor of the graph against that of @apollo/gateway, over the same subgraphs in one process.",
    load: () => import("./federation.ts"),
  },
  gateway: {
    description: "The gateway service against plain @apollo/gateway with @apollo/server, over the same subgraphs.",
    load: () => import("./gateway.ts"),
  },
  live: {
    description: "5,000 subscriptions of the graph on one gateway: memory of an idle one, latency from the commit.",
    load: () => import("./live.ts"),
  },
  console: {
    description:
      "The console in Chromium: compressed script, first content on a slow machine and network, a filter over 10,000 attempts, a live tail of 200 a second for ten minutes (`--seconds` shortens it).",
    load: () => import("./console.ts"),
  },
  config: {
    description:
      "The config service: configuration and flags against bare Express 5 with the same bytes, changes until they are enforced, 10,000 streams.",
    load: () => import("./config.ts"),
  },
  ingest: {
    description:
      "Signed webhooks of 1 KB on PostgreSQL with fsync, against a Node server that only verifies, inserts and commits.",
    load: () => import("./ingest.ts"),
  },
  parked: {
    description:
      "1,000 messages a second of one key, the first of which fails twice, beside a hundred a second of other keys.",
    load: () => import("./parked.ts"),
  },
  neighbours: {
    description:
      "Two accounts of one embedded system at its default limits: the waits of one alone, and beside six loads of the other.",
    load: () => import("./neighbours.ts"),
  },
};
