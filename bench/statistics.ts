import { fileURLToPath } from "node:url";
import { hours } from "@signalbox/core";
import { type FreshEntry, freshBatch, openPool, type Pool, sql } from "@signalbox/storage";
import { createSender, eventually, startProcess, type TestPerson, testPerson } from "@signalbox/testing";
import { benchParts, percentile, rounded } from "./bench-parts.ts";
import { most } from "./history.ts";
import { startPublishSystem } from "./ingest-system.ts";

const batches = 1_500;
const deliveries = 1_000_000;
const batchSize = 64;
const days = 30;
const reads = 40;
const endpointsPath = "/api/v1/webhooks/endpoints";
const recorder = fileURLToPath(new URL("../services/webhook-delivery/test/record-batches-process.ts", import.meta.url));

/** An endpoint with its owner. */
interface Owned {
  readonly who: TestPerson;
  readonly id: string;
  readonly send: ReturnType<typeof createSender>;
}

export async function run() {
  await using opened = new AsyncDisposableStack();
  const { delivery, databaseUrl } = await startPublishSystem(opened);
  const batch = await recordBatches(databaseUrl);
  const owned = await newEndpoint(createSender(delivery.origin));
  const pool = openPool({
    url: databaseUrl,
    max: 2,
    applicationName: "bench",
    ...benchParts(),
    runner: { defer: () => {} },
  });
  opened.defer(() => pool.close());
  const folded = await fill(pool, owned);
  const grouped = "&group_by=type,status_class,error";
  const byDay = await timesOf(owned, `${endpointsPath}/${owned.id}/statistics?bucket=1d${grouped}`, days * 24);
  const byStatus = "&group_by=status_class,error";
  const byHour = await timesOf(owned, `/api/v1/webhooks/statistics?bucket=1h${byStatus}`, days * 24);
  const byMinute = await timesOf(owned, `/api/v1/webhooks/statistics?bucket=1m${byStatus}`, 24);
  return {
    rows: [
      { what: `batch of ${batchSize} attempts`, ...batch },
      { what: `${deliveries} attempts folded and rolled up`, ...folded },
      { what: `${days} days by day, type, status and error, of an endpoint`, ...byDay },
      { what: `${days} days by hour, status and error, of the account`, ...byHour },
      { what: "a day by minute, status and error, of the account", ...byMinute },
    ],
    figures: [
      most(
        "share of the figures in the time of a batch of attempts",
        3,
        batch.sharePercent,
        "%",
        `${batch.withoutMs} ms without`,
      ),
      most(`${days} days by day, 1 M deliveries, p95`, 50, byDay.p95Ms, "ms"),
      most(`${days} days by hour, 1 M deliveries, p95`, 50, byHour.p95Ms, "ms"),
      most("a day by minute, 1 M deliveries in 30 days, p95", 50, byMinute.p95Ms, "ms"),
    ],
  };
}

/** Records batches in turns with and without their figures; the median of the pairs' differences is their share. */
async function recordBatches(databaseUrl: string) {
  const process = startProcess(recorder, [databaseUrl, String(batches)]);
  const [, text = ""] = await process.waitForOutput(/^(\{"withThem".*\})$/m, 600_000);
  await process.exited;
  const { withThem, without } = JSON.parse(text) as Record<"withThem" | "without", number[]>;
  const [withMs, withoutMs] = [percentile(withThem, 0.5), percentile(without, 0.5)];
  const differenceMs = percentile(
    withThem.map((ms, turn) => ms - (without[turn] ?? 0)),
    0.5,
  );
  return {
    withMs: rounded(withMs),
    withoutMs: rounded(withoutMs),
    sharePercent: rounded((100 * differenceMs) / withMs),
  };
}

async function newEndpoint(send: Owned["send"]): Promise<Owned> {
  const who = testPerson();
  const body = { type: "pull", event_types: ["order.*"] };
  return { who, send, id: (await send(who, "POST", endpointsPath, { body })).body.id };
}

const insert = sql("", "insert into signalbox.fresh_statistics (batch) select * from unnest($1::text[])");
const vacuum = sql("", "vacuum (analyze) signalbox.fresh_statistics, signalbox.statistics");
const isFolded = sql(
  "",
  `select not exists (select from signalbox.fresh_statistics) and not exists (
     select from signalbox.statistics where not rolled and at < now() - interval '2 days') as "isFolded"`,
);

/** Writes the batches of a million attempts in the order of time, and waits until the service has folded them. */
async function fill(pool: Pool, { who: { accountId }, id }: Owned) {
  const startMs = Date.now() - hours(days * 24);
  const stepMs = hours(days * 24) / deliveries;
  const startedMs = performance.now();
  for (let from = 0; from < deliveries; from += 100 * batchSize) {
    const texts = Array.from({ length: 100 }, (_, batch) =>
      freshBatch(
        Array.from({ length: batchSize }, (_, place) => {
          const number = from + batch * batchSize + place;
          return entryOf(number, { accountId, subjectId: id, atMs: startMs + number * stepMs });
        }),
      ),
    );
    await pool.query(insert, [texts]);
  }
  const isDone = async () => (await pool.query<{ isFolded: boolean }>(isFolded)).rows[0]?.isFolded === true;
  await eventually(isDone, { timeoutMs: 1_200_000 });
  // As the server does by itself within a minute: a month's figures came in one.
  await pool.query(vacuum);
  return { perSecond: Math.round((1_000 * deliveries) / (performance.now() - startedMs)) };
}

/** Ten types, of which a tenth of the attempts fail in one of two ways. */
function entryOf(number: number, place: Pick<FreshEntry, "accountId" | "subjectId" | "atMs">): FreshEntry {
  const isFailed = number % 10 === 9;
  const durationMs = Math.round(20 + 2_000 * Math.random() ** 6);
  const outcome = number % 20 === 9 ? ["5xx", null] : ["none", "deadline"];
  const labels = [`order.type${Math.floor(number / 10) % 10}`, ...(isFailed ? outcome : ["2xx", null])];
  return { ...place, labels, counts: [1, Number(!isFailed), Number(isFailed), 0], durationMs };
}

/** Times reads of a range that ends now, one after the other. */
async function timesOf({ who, send }: Owned, path: string, rangeHours: number) {
  const times: number[] = [];
  let items = 0;
  for (let count = 0; count < reads; count++) {
    const from = new Date(Date.now() - hours(rangeHours)).toISOString();
    const startedMs = performance.now();
    const { status, body, text } = await send(who, "GET", `${path}&from=${from}`);
    times.push(performance.now() - startedMs);
    if (status !== 200) throw new Error(`${path} was answered ${status}: ${text}`);
    items = body.items.length;
  }
  return { items, p50Ms: rounded(percentile(times, 0.5)), p95Ms: rounded(percentile(times, 0.95)) };
}
