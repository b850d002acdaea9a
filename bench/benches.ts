import type { BenchResult } from "./history.ts";

interface Bench {
  readonly description: string;
  readonly load: () => Promise<{ run(): Promise<BenchResult> }>;
}

/** Each bench measures its baseline in the same run, because absolute figures say more about the machine than about the code. */
export const benches: Readonly<Record<string, Bench>> = {
  publish: {
    description:
      "One account that publishes events of 1 KB over HTTP on PostgreSQL with fsync, against a server that only answers.",
    load: () => import("./publish.ts"),
  },
  delivery: {
    description:
      "Events of 1 KB to ten endpoints: a backlog, against a Node process that posts as much from memory; 200 a second over HTTP, also beside endpoints that hang.",
    load: () => import("./delivery.ts"),
  },
  ingest: {
    description:
      "Signed webhooks of 1 KB on PostgreSQL with fsync, against a Node server that only verifies, inserts and commits.",
    load: () => import("./ingest.ts"),
  },
  pull: {
    description:
      "Messages of 1 KB of a pull endpoint on PostgreSQL with fsync: 200 a second to waiting polls, and a backlog.",
    load: () => import("./pull.ts"),
  },
  images: {
    description:
      "The images service against sharp alone on the same file and a minimal server: cold and stored renditions, memory.",
    load: () => import("./images.ts"),
  },
  "images-weight": {
    description:
      "Bytes of renditions of 100 made files of ten kinds, against sharp's best setting by hand and against the originals.",
    load: () => import("./images-weight.ts"),
  },
  gateway: {
    description: "The gateway service against plain @apollo/gateway with @apollo/server, over the same subgraphs.",
    load: () => import("./gateway.ts"),
  },
  config: {
    description:
      "The config service: configuration and flags against bare Express 5 with the same bytes, changes until they are enforced, 10,000 streams.",
    load: () => import("./config.ts"),
  },
  start: {
    description:
      "`npm start` until every service serves, in an empty folder and then on its data; memory at rest and after a minute of load.",
    load: () => import("./start.ts"),
  },
  growth: {
    description:
      "What grows: open streams, a month of attempts, publishing accounts; each against the same system while it is small. It takes 20 minutes and 20 GB of disk.",
    load: () => import("./growth.ts"),
  },
  neighbours: {
    description:
      "Two accounts of one embedded system at its default limits: the waits of one alone, and beside each load of the other.",
    load: () => import("./neighbours.ts"),
  },
};
