import { systemClock } from "@signalbox/core";
import { createDayTables, dayMs, type Pool, sql, startOfDay } from "@signalbox/storage";
import { createSender, type TestPerson, testPerson } from "@signalbox/testing";
import { startConfigService } from "./config-system.ts";
import { type BenchResult, most } from "./history.ts";
import { hundredths, medians, percentile, rounded, successes, waitsOf } from "./measure.ts";
import { addEndpoint, benchPool, openSurroundings, publication, startSink } from "./systems.ts";

const streams = { few: 100, many: 10_000 };
const days = 30;
const attempts = 20_000_000;
const attemptsOfDelivery = 2;
const publishers = 10_000;
const load = { perSecond: 100, seconds: 6, connections: 16 };
const pages = 200;
const rounds = 3;

/** One thing that grew: the p99 of waits in milliseconds, while it is small and when it is large. */
interface Grown {
  readonly name: string;
  readonly few: Readonly<Record<string, number>>;
  readonly many: Readonly<Record<string, number>>;
}

const numeral = (value: number) => value.toLocaleString("en");
const p99 = (waitsMs: readonly number[]) => rounded(percentile(waitsMs, 0.99));

/** One thing after another grows to its whole size, each on a system of its own, so that none is measured on what another left. */
export async function run(): Promise<BenchResult> {
  const grown = [await growStreams(), await growAttempts(), await growPublishers()];
  return {
    rows: grown.flatMap(({ name, few, many }) =>
      Object.keys(few).map((wait) => ({ what: name, wait, fewP99Ms: few[wait], manyP99Ms: many[wait] })),
    ),
    figures: grown.flatMap(({ name, few, many }) =>
      Object.entries(few).map(([wait, small]) => {
        const times = hundredths((many[wait] ?? Number.NaN) / small);
        return most(`p99 with many, times with few: ${wait}, ${name}`, 1.5, times, "", `${small} ms`);
      }),
    ),
  };
}

/** Measures some rounds before and after it grows. */
async function measured(
  name: string,
  round: () => Promise<Readonly<Record<string, number>>>,
  grow: () => Promise<unknown>,
): Promise<Grown> {
  const middle = async () => {
    const waits = [];
    while (waits.length < rounds) waits.push(await round());
    return medians(waits);
  };
  await round(); // the first seconds compile the code
  const few = await middle();
  await grow();
  return { name, few, many: await middle() };
}

/** Reads of a configuration that many streams follow. */
async function growStreams(): Promise<Grown> {
  await using opened = new AsyncDisposableStack();
  const service = await startConfigService(opened);
  await service.follow(streams.few);
  const next = () => ({ path: "/api/v1/config/", headers: service.headers });
  return await measured(
    `${numeral(streams.many)} open streams for ${streams.few}`,
    async () => ({ read: p99(await successes({ origin: service.origin, ...load, next })) }),
    () => service.follow(streams.many - streams.few),
  );
}

/** A system of deliveries, in which an account publishes and reads. */
async function startDeliveries(opened: AsyncDisposableStack) {
  const sink = await startSink(opened);
  const { start, databaseUrl } = await openSurroundings(opened);
  const { origin } = await start("webhook-delivery", {
    "webhook-delivery.outbound.allow": "127.0.0.1:*",
    "log.level": "warn",
  });
  const pool = benchPool(databaseUrl("webhook-delivery"));
  opened.defer(() => pool.close());
  const owner = testPerson();
  // One endpoint gets the events; the others fill the page.
  for (let nth = 0; nth < 10; nth++)
    await addEndpoint(origin, owner, { url: sink.url, event_types: [nth === 0 ? "order.paid" : "order.other"] });
  const firstPage = async () => {
    const { status } = await createSender(origin)(owner, "GET", "/api/v1/webhooks/deliveries?limit=20");
    if (status !== 200) throw new Error(`a page was answered ${status}`);
  };
  /** The publishers take turns. */
  const round = async (publishers: readonly TestPerson[]) => {
    let nth = 0;
    const next = () => publication(publishers[nth++ % publishers.length] as TestPerson, crypto.randomUUID());
    const accept = p99(await successes({ origin, ...load, next }));
    return { accept, "first page": p99(await waitsOf(pages, 5, firstPage)) };
  };
  return { origin, pool, owner, round };
}

async function growAttempts(): Promise<Grown> {
  await using opened = new AsyncDisposableStack();
  const { origin, pool, owner, round } = await startDeliveries(opened);
  return await measured(
    `${days} days with ${numeral(attempts)} attempts for none`,
    () => round([owner]),
    async () => {
      const other = testPerson();
      const endpointId = await addEndpoint(origin, other, { url: "http://127.0.0.1:9/", event_types: ["order.stuck"] });
      await fillDays(pool, [endpointId, other.accountId]);
    },
  );
}

/** Fills the days behind today with what an endpoint of another account was sent. */
async function fillDays(pool: Pool, owner: readonly [endpointId: string, accountId: string]): Promise<void> {
  const tables = [
    { name: "deliveries", column: "created_at", fillfactor: 80 },
    { name: "delivery_attempts", column: "started_at", fillfactor: 80 },
  ];
  const dayTables = createDayTables({ pool, clock: systemClock, keepMs: () => dayMs * days }, tables);
  const ofDay = attempts / days / attemptsOfDelivery;
  for (let ago = 1; ago <= days; ago++) {
    const startMs = startOfDay(systemClock.nowMs() - ago * dayMs);
    for (const table of tables) await dayTables.make(table, startMs);
    const given = `(select to_hex(${ago}) || lpad(to_hex(nth), 24, '0') as key,
      to_timestamp(${startMs / 1_000} + nth * ${86_000 / ofDay}) as at from generate_series(1, ${Math.ceil(ofDay)}) as nth) as given`;
    await pool.query(
      sql(
        "",
        `with made as (insert into deliveries (id, created_at, endpoint_id, account_id, event_id, event_type, status, attempts)
           select 'whd_' || key, at, $1, $2, 'evt_' || key, 'order.stuck', 'exhausted', ${attemptsOfDelivery} from ${given})
         insert into delivery_attempts (id, delivery_id, endpoint_id, account_id, number, started_at, duration_ms, status, counted)
           select 'att_' || number || key, 'whd_' || key, $1, $2, number, at + number * interval '1 second', 12, 503, true
           from ${given}, generate_series(1, ${attemptsOfDelivery}) as number`,
      ),
      owner,
    );
  }
  // What so many rows leave behind is no part of what the size costs.
  for (const { name } of tables) await pool.query(sql("", `vacuum analyze ${name}`));
  await pool.query(sql("", "checkpoint"));
}

async function growPublishers(): Promise<Grown> {
  await using opened = new AsyncDisposableStack();
  const { origin, owner, round } = await startDeliveries(opened);
  let publishing = [owner];
  return await measured(
    `${numeral(publishers)} accounts that publish for one`,
    () => round(publishing),
    async () => {
      publishing = Array.from({ length: publishers }, () => testPerson());
      // Each publishes once, so that none is new when it is measured.
      const left = publishing.values();
      const lane = async () => {
        for (const who of left) {
          const { method = "POST", path, headers, body } = publication(who, crypto.randomUUID());
          const { status } = await fetch(origin + path, { method, headers, body: body ?? null });
          if (status !== 202) throw new Error(`an event was answered ${status}`);
        }
      };
      await Promise.all(Array.from({ length: load.connections }, lane));
    },
  );
}
