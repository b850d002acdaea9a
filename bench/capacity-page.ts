import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { benchCores, type Costs, costsOf, type Figures, figuresIn } from "./capacity-figures.ts";
import { houses } from "./capacity-houses.ts";
import { planTable } from "./capacity-plan.ts";
import { historyFile, type RecordedFigure, readHistory } from "./history.ts";
import { numeral, twoDigits } from "./numbers.ts";

const page = fileURLToPath(new URL("../docs/reference/capacity.md", import.meta.url));

/** Writes the page anew from the history. */
export async function writeCapacityPage(): Promise<void> {
  await writeFile(page, capacityPage(await readHistory(historyFile)));
}

/** Renders what a core, a gigabyte and a disk carry, computed from the newest recorded figures. */
export function capacityPage(history: readonly RecordedFigure[]): string {
  const figures = figuresIn(history);
  const costs = costsOf(figures);
  return `${[
    "# Capacity",
    "",
    "How much a core, a gigabyte and a disk carry. Computed from [the recorded figures](../../bench/history.jsonl) by",
    "`npm run generate`; [performance](performance.md) says when and where each was measured. Take it to choose a size, then measure your",
    "own use.",
    "",
    ...perCore(figures),
    ...perGigabyte(figures),
    ...containers(figures),
    ...disk(figures, costs),
    ...houses(figures, costs),
    ...growth(figures),
    ...planTable(costs),
    "## Not measured",
    "",
    "More than one machine, replicas of PostgreSQL, a broker under more than one service's load. A plan is arithmetic: run the benches on your",
    "machines before you rely on it.",
  ].join("\n")}\n`;
}

/** Half of what two cores carried with PostgreSQL, log and load on them. */
const perCoreOf = (rate: number): number => twoDigits(rate / benchCores);

function perCore({ value, baseline }: Figures): string[] {
  const shareOf = (bench: string, figure: string) => value(bench, figure) * baseline(bench, figure);
  const rows = [
    ["read with a token", shareOf("account", "read with a token, share of bare Express"), "the service"],
    ["change with event and audit entry", value("account", "changes"), "PostgreSQL"],
    ["webhook accepted", value("ingest", "accepted, forwarding off"), "PostgreSQL"],
    ["webhook accepted and delivered, one source", value("ingest", "accepted and delivered, one source"), "PostgreSQL"],
    [
      "event published by API and delivered",
      value("publish", "published by one account on 32 connections"),
      "PostgreSQL",
    ],
    [
      "delivery from a backlog",
      shareOf("delivery", "backlog drained, share of a relay without a database"),
      "PostgreSQL",
    ],
    ["event relayed to Kafka", value("outbox", "relay to Kafka"), "the relay"],
    ["stored rendition", value("images", "stored rendition"), "the service"],
    [
      "6-megapixel picture rendered",
      shareOf("images", "cold 720 px jpeg, 2 in flight, rate, share of sharp alone"),
      "the decoder",
    ],
  ] as const;
  return [
    "## Per core",
    "",
    `Half of what ${benchCores} cores carried with everything on them, so PostgreSQL, the log and the load itself are inside the figure.`,
    "",
    "| work | per core and second | bound by |",
    "|---|---|---|",
    ...rows.map(([work, rate, bound]) => `| ${work} | ${numeral(perCoreOf(rate))} | ${bound} |`),
    "",
    `Latency limits a rate first: at 1,000 webhooks a second on ${benchCores} shared cores the p99 was ${numeral(value("ingest", "1,000/s, accepted, p99"))} ms. Plan for half of the table.`,
    "",
  ];
}

function perGigabyte({ value }: Figures): string[] {
  const rows = [
    ["all services in one process, at rest", value("start", "memory of all services"), "MiB"],
    ["the small deployment at 30 requests a second, all processes", smallMiB(value), "MiB"],
    ["webhook-delivery behind a backlog", value("delivery", "RSS of the service after the backlog"), "MiB"],
    ["the gateway at 50 connections of heavy queries", value("gateway", "resident at 50 connections"), "MiB"],
    ["images with its decoders, 3 s after load", value("images", "memory 3 s after load"), "MiB"],
    ["a follower of the configuration stream", value("config", "memory of each of 10000 idle streams"), "KiB"],
    ["a subscription of the graph, on its own connection", value("live", "memory of an idle subscriber"), "KiB"],
  ] as const;
  return [
    "## Per gigabyte",
    "",
    "| what | memory |",
    "|---|---|",
    ...rows.map(([what, size, unit]) => `| ${what} | ${numeral(size)} ${unit} |`),
    "",
    "The limits of `docker-compose.yml` are 384 MiB, 512 for the gateway and 768 for those that decode. A replica of each service fits 4 GiB.",
    "",
  ];
}

const smallMiB = (value: Figures["value"]) =>
  value("small", "small deployment at 30 requests a second, with Prometheus: memory of all processes");

function containers({ ofBench }: Figures): string[] {
  return [
    "## The image and its containers",
    "",
    "Measured by `npm run containers`, on podman with two cores and a little other work. A machine holds the shared files of Node and of the",
    "image once.",
    "",
    "| what | wanted | measured | |",
    "|---|---|---|---|",
    ...ofBench("containers").map(
      ({ figure, value, unit, wanted, met }) =>
        `| ${figure} | ${wanted === null ? "–" : `${numeral(Object.values(wanted)[0] ?? 0)} ${unit}`} | ${numeral(value)} ${unit} | ${met === null ? "–" : met ? "met" : "**missed**"} |`,
    ),
    "",
  ];
}

const keptFor: Readonly<Record<string, string>> = {
  received_deliveries: "accepted webhook: `webhook-ingest.received.retention`, 30 days",
  received_keys: "accepted webhook: the same",
  webhook_events: "event with subscribers: `webhook-delivery.retention`, 30 days",
  deliveries: "delivery: the same",
  delivery_attempts: "attempt: the same",
  inbox: "event consumed: `events.inbox.retention`, 45 days",
  audit_entries: "audited change: `account.audit.retention-days`, 365 days",
  accounts: "account with one identity: its life and `account.retention-days`",
  images: "image with five renditions: its life",
};

function disk({ ofBench }: Figures, { publishedWalKiB, acceptedWalKiB, deliveredWalKiB }: Costs): string[] {
  return [
    "## Disk: bytes of a row",
    "",
    "Read from a system under 50 mixed requests a second: `pg_total_relation_size` with indexes, over the rows. Its bodies have 60 bytes.",
    "Repeat it on your own database:",
    "",
    "```text",
    "select c.oid::regclass, c.reltuples, pg_total_relation_size(c.oid) / nullif(c.reltuples, 0)",
    "  from pg_class c where relkind = 'r' and reltuples > 1000 order by 3 desc;",
    "```",
    "",
    "| table | bytes | read from | for each, and kept for |",
    "|---|---|---|---|",
    ...ofBench("rows").map(
      ({ figure, value, baseline }) =>
        `| \`${figure}\` | ${numeral(value)} | ${baseline ?? "–"} | ${keptFor[figure] ?? "–"} |`,
    ),
    "",
    "A body of B bytes adds B to `received_deliveries` and to `webhook_events` each, and B after ZSTD to each topic that it is on.",
    `PostgreSQL writes WAL beside it: ${publishedWalKiB} KiB for an event that is published and delivered alone, ${deliveredWalKiB} KiB for a delivery from the log, ${acceptedWalKiB} KiB for an accepted webhook with its event. That is what an archive of WAL keeps.`,
    "",
    "Topics keep seven days. A record is its event and about 0.4 kB of headers before ZSTD; three copies on three brokers.",
    "",
  ];
}

function growth({ ofBench }: Figures): string[] {
  const rows = ofBench("growth");
  if (rows.length === 0) return [];
  return [
    "## How cost grows",
    "",
    "Written by `npm run bench -- growth`: the p99 with many, times that with few, at the scale that the row names.",
    "",
    "| what | times | with few | |",
    "|---|---|---|---|",
    ...rows.map(
      ({ figure, value, baseline, met }) =>
        `| ${figure.slice(figure.indexOf(": ") + 2)} | ${numeral(value)} | ${baseline ?? "–"} | ${met ? "met" : "**missed**"} |`,
    ),
    "",
  ];
}
