import type { Costs } from "./capacity-figures.ts";
import { numeral, size, twoDigits } from "./numbers.ts";

/** Load at which a process or a server is planned: the rest is for a lost replica, a roll-out and the busy minute. */
const plannedLoad = 0.5;
/** A server of PostgreSQL that is easy to get. */
const primary = { cores: 16, walMiBPerSecond: 100, connections: 400 };
/** Connections that a process opens: 63 of seven processes. */
const connectionsOfPod = 9;
const podCores = 1;
const rates = [10_000, 100_000];

interface Plan {
  readonly perSecond: number;
  readonly pods: number;
  readonly databaseCores: number;
  readonly walMiB: number;
  readonly connections: number;
  /** Servers of PostgreSQL that webhook-delivery needs, each with a range of the accounts. */
  readonly ranges: number;
  /** The part that asks for the most servers. */
  readonly first: string;
  readonly partitions: number;
  readonly bytesOfDay: number;
}

/** Plans a rate of events of 1 kB that are published by API and delivered to one endpoint each. */
export function planFor(perSecond: number, costs: Costs): Plan {
  const pods = Math.ceil((perSecond * costs.publishedMs) / 1_000 / plannedLoad / podCores);
  const databaseCores = Math.ceil((perSecond * costs.databaseMs) / 1_000 / plannedLoad);
  const walMiB = (perSecond * costs.publishedWalKiB) / 1_024;
  const connections = pods * connectionsOfPod;
  const asked = [
    ["cores of PostgreSQL", databaseCores / primary.cores],
    ["WAL", walMiB / plannedLoad / primary.walMiBPerSecond],
    ["connections", connections / primary.connections],
  ] as const;
  const [first, most] = asked.toSorted(([, one], [, other]) => other - one)[0] ?? ["", 0];
  return {
    perSecond,
    pods,
    databaseCores,
    walMiB,
    connections,
    ranges: Math.max(1, Math.ceil(most)),
    first,
    partitions: 2 ** Math.ceil(Math.log2(Math.max(8, pods))),
    bytesOfDay: perSecond * 86_400 * costs.eventBytes,
  };
}

export function planTable(costs: Costs): string[] {
  const plans = rates.map((rate) => planFor(rate, costs));
  const row = (what: string, cell: (plan: Plan) => string) => `| ${what} | ${plans.map(cell).join(" | ")} |`;
  const oneServer = [
    ["cores of PostgreSQL", (primary.cores * plannedLoad * 1_000) / costs.databaseMs],
    ["WAL", (primary.walMiBPerSecond * plannedLoad * 1_024) / costs.publishedWalKiB],
    ["connections", (((primary.connections / connectionsOfPod) * podCores * plannedLoad) / costs.publishedMs) * 1_000],
  ] as const;
  return [
    "## What gives in first",
    "",
    `A server of PostgreSQL with ${primary.cores} cores, ${primary.walMiBPerSecond} MiB of WAL a second and ${primary.connections} connections, planned at half of each, carries so many events a second that are published and delivered once:`,
    "",
    "| part | events a second | what moves it |",
    "|---|---|---|",
    ...oneServer.map(([part, rate]) => `| ${part} | ${numeral(twoDigits(rate))} | ${moves[part]} |`),
    "",
    "## The plan for 10,000 and 100,000 events a second",
    "",
    `Events of 1 kB, published by API and delivered to one endpoint each. An event costs ${costs.publishedMs} ms of webhook-delivery and at most ${costs.databaseMs.toFixed(2)} ms of PostgreSQL, which is what two cores had left, the load included.`,
    "",
    row("events a second", ({ perSecond }) => numeral(perSecond)),
    "|---|---|---|",
    row("pods of webhook-delivery with a core each", ({ pods }) => numeral(pods)),
    row("cores of PostgreSQL for it", ({ databaseCores }) => numeral(databaseCores)),
    row("WAL", ({ walMiB }) => `${Math.round(walMiB)} MiB/s`),
    row("connections", ({ connections }) => numeral(connections)),
    row(
      "servers of PostgreSQL, each with a range of the accounts",
      ({ ranges, first }) => `${ranges}, for the ${first}`,
    ),
    row("partitions of the topics of events", ({ partitions }) => numeral(partitions)),
    row("disk a day, of all servers", ({ bytesOfDay }) => `${size(bytesOfDay)}`),
    "",
    "What has to change:",
    "",
    "- *By service.* Each service has a database of its own already; give webhook-delivery and webhook-ingest a server each (`database.url`).",
    "- *By account range.* More than one server for webhook-delivery means as many deployments of it, each with its own `database.url` and its",
    "  own consumer group, and an edge that chooses one by the account of the credential. The edge of today does not: it is the one part that",
    "  has to be written. Operators' endpoints with the scope `all` need an endpoint in each range.",
    "- *Partitions.* At least one for each pod of the largest group, set before the topics hold data, because keys move when the number changes.",
    "- *Retention.* At these rates thirty days of deliveries are the largest cost: `webhook-delivery.retention` of a day or three.",
    "- *Attempts as events.* `webhook-delivery.attempts.published` stays at `failed`.",
    "",
    "What must not change: ids, contracts and signatures; one event, one transaction; order by key within an account, which a range keeps",
    "whole; and that a pod can be killed at any moment.",
    "",
  ];
}

const moves: Readonly<Record<string, string>> = {
  "cores of PostgreSQL": "a larger server, then a range of accounts on a server of its own",
  WAL: "a faster disk for `pg_wal`; fewer full page images (`max_wal_size`, `wal_compression`)",
  connections: "`max_connections`, or a smaller `database.pool.max` per pod",
};
