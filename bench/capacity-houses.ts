import { benchCores, bodyBytes, type Costs, type Figures } from "./capacity-figures.ts";
import { numeral, size, twoDigits } from "./numbers.ts";

const secondsOfMonth = 30 * 86_400;
const busiest = 10;
/** Of each account and month. */
const ofMonth = { webhooks: 1_000, reads: 3_000, changes: 100, images: 10 };
const bytesOfImage = 3.6e6;
const accountsOf = [10_000, 1_000_000];

interface Rates {
  readonly webhooks: number;
  readonly reads: number;
  readonly changes: number;
}

/** Two deployments, by the number of their accounts. */
export function houses(figures: Figures, costs: Costs): string[] {
  const columns = accountsOf.map((accounts) => ({
    ...loadOf(accounts, ratesOf(figures)),
    ...bytesOf(accounts, figures, costs),
  }));
  const names = Object.keys(columns[0] ?? {}) as (keyof (typeof columns)[number])[];
  return [
    "## Two houses",
    "",
    `Assumed of each account and month: ${ofMonth.images} images in all, of 3 MB with 0.6 MB of renditions; ${ofMonth.changes} changes; ${numeral(ofMonth.webhooks)} webhooks of 1 kB received and delivered to one endpoint; ${numeral(ofMonth.reads)} reads. The busiest second is ${busiest} times the mean.`,
    "",
    `| accounts | ${accountsOf.map(numeral).join(" | ")} |`,
    "|---|---|---|",
    ...names.map((name) => `| ${name} | ${columns.map((column) => column[name]).join(" | ")} |`),
    "",
    `A webhook is ${numeral(costs.webhookBytes)} bytes at ingest and ${numeral(costs.eventBytes)} at delivery, with the ${numeral(bodyBytes)} of its body in each, and 1.5 rows of the inbox, which keeps 45 days instead of 30.`,
    "A shorter retention gives its space back at once, because days are partitions that are dropped. Kept deliveries cost most.",
    "",
  ];
}

/** Rates of a core at half load. */
function ratesOf({ value, baseline }: Figures): Rates {
  const half = (rate: number) => rate / benchCores / 2;
  const read = "read with a token, share of bare Express";
  return {
    webhooks: half(value("ingest", "accepted and delivered, four sources")),
    reads: half(value("account", read) * baseline("account", read)),
    changes: half(value("account", "changes")),
  };
}

function loadOf(accounts: number, rates: Rates) {
  const mean = (of: keyof Rates) => (accounts * ofMonth[of]) / secondsOfMonth;
  const both = (of: keyof Rates) => `${numeral(twoDigits(mean(of)))}/s, ${numeral(twoDigits(mean(of) * busiest))}/s`;
  const cores = (of: keyof Rates) => Math.ceil((mean(of) * busiest) / rates[of]);
  return {
    "webhooks, mean and busiest second": both("webhooks"),
    "reads, mean and busiest": both("reads"),
    "changes, mean and busiest": both("changes"),
    "cores at the busiest second, at half load": `${cores("webhooks")} for webhooks, ${cores("reads")} for reads, ${cores("changes")} for changes`,
  };
}

function bytesOf(accounts: number, { value }: Figures, costs: Costs) {
  const bytes = (table: string) => value("rows", table);
  const webhooks = accounts * ofMonth.webhooks;
  const images = accounts * ofMonth.images;
  return {
    "database of accounts, with a year of audit": size(
      accounts * (bytes("accounts") + 12 * ofMonth.changes * bytes("audit_entries")),
    ),
    "database of ingest, 30 days": size(webhooks * costs.webhookBytes),
    "database of delivery, 30 days": size(webhooks * (costs.eventBytes + 1.5 * bytes("inbox"))),
    "database of images": size(images * bytes("images")),
    "WAL a day": size((webhooks / 30) * (costs.acceptedWalKiB + costs.deliveredWalKiB) * 1_024),
    objects: size(images * bytesOfImage),
  };
}
