import { setTimeout as sleep } from "node:timers/promises";
import { type Pool as Database, openPool, sql } from "@signalbox/storage";
import { createSender, type TestPerson, testPerson } from "@signalbox/testing";
import { Pool } from "undici";
import { benchParts, percentile, rounded } from "./bench-parts.ts";
import { type BenchResult, most } from "./history.ts";
import { startPublishSystem } from "./ingest-system.ts";
import { numeral } from "./numbers.ts";
import { pacedLoad } from "./paced-load.ts";

/** As much as two cores make in less than twenty minutes. */
const scale = { endpoints: 100_000, endpointsOfAccount: 10, due: 1_000_000, publishers: 10_000 };
const perSecond = 100;
const seconds = 6;
const rounds = 3;
const connections = 16;
const lists = 200;
const wantedTimes = 1.5;
const endpointsPath = "/api/v1/webhooks/endpoints";
const eventsPath = "/api/v1/webhooks/events";
const deliveriesPath = "/api/v1/webhooks/deliveries?limit=20";
const filling = "x".repeat(900);

type System = Awaited<ReturnType<typeof startPublishSystem>>;

/** The p99 of what an account waits for, in milliseconds. */
interface Waits {
  readonly accept: number;
  readonly list: number;
}

/** One thing that grows beside an account whose own size stays. */
interface Growth {
  readonly name: string;
  /** Path of the list whose first page is read. */
  readonly list: string;
  readonly grow: (place: Place) => Promise<void>;
  /** Publishers once it has grown. Default: the account alone. */
  readonly publishers?: readonly TestPerson[];
}

interface Place {
  readonly system: System;
  readonly pool: Database;
  readonly owner: TestPerson;
}

const crowd = Array.from({ length: scale.publishers }, () => testPerson());
const growths: readonly Growth[] = [
  { name: `${numeral(scale.endpoints)} endpoints for 10`, list: endpointsPath, grow: growEndpoints },
  { name: `${numeral(scale.due)} due deliveries for none`, list: deliveriesPath, grow: growDue },
  {
    name: `${numeral(scale.publishers)} accounts that publish for one`,
    list: deliveriesPath,
    grow: growPublishers,
    publishers: crowd,
  },
];

/** One thing after another grows to its whole size, each beside what the same account waits for before. */
export async function run(): Promise<BenchResult> {
  const measured: { readonly name: string; readonly few: Waits; readonly many: Waits }[] = [];
  for (const growth of growths) measured.push({ name: growth.name, ...(await measure(growth)) });
  return {
    rows: measured.flatMap(({ name, few, many }) => [
      { what: name, size: "few", "accept, p99 ms": few.accept, "first page, p99 ms": few.list },
      { what: name, size: "many", "accept, p99 ms": many.accept, "first page, p99 ms": many.list },
    ]),
    figures: measured.flatMap(({ name, few, many }) =>
      (["accept", "list"] as const).map((what) =>
        most(
          `p99 with many, times with few: ${what === "list" ? "first page" : what}, ${name}`,
          wantedTimes,
          Math.round((many[what] / few[what]) * 100) / 100,
          "",
          `${few[what]} ms`,
        ),
      ),
    ),
  };
}

/** Each growth has a system of its own, so that none is measured on what another one left. */
async function measure({ list, grow, publishers }: Growth): Promise<{ readonly few: Waits; readonly many: Waits }> {
  await using opened = new AsyncDisposableStack();
  const system = await startPublishSystem(opened);
  const pool = openPool({
    ...benchParts(),
    url: system.databaseUrl,
    max: 2,
    applicationName: "bench",
    statementTimeoutMs: 600_000,
    runner: { defer: () => {} },
  });
  opened.defer(() => pool.close());
  const owner = await ownerWithEndpoints(system);
  const place = { system, pool, owner };
  await roundOf(place, list, [owner]); // the first seconds compile the code
  const few = await waitsOf(place, list, [owner]);
  await grow(place);
  const many = await waitsOf(place, list, publishers ?? [owner]);
  return { few, many };
}

/** One endpoint gets the events; the others fill the page. */
async function ownerWithEndpoints({ delivery, sink }: System): Promise<TestPerson> {
  const owner = testPerson();
  for (let nth = 0; nth < scale.endpointsOfAccount; nth++) {
    const body = { url: `${sink.url}/${nth}`, event_types: [nth === 0 ? "order.paid" : "order.other"] };
    const { status, text } = await createSender(delivery.origin)(owner, "POST", endpointsPath, { body });
    if (status !== 201) throw new Error(`an endpoint was answered ${status}: ${text}`);
  }
  return owner;
}

/** Takes the middle one of the p99 of some rounds: one pause of the machine is not what grows. */
async function waitsOf(place: Place, list: string, publishers: readonly TestPerson[]): Promise<Waits> {
  const measured: Waits[] = [];
  while (measured.length < rounds) measured.push(await roundOf(place, list, publishers));
  const middle = (of: keyof Waits) =>
    percentile(
      measured.map((waits) => waits[of]),
      0.5,
    );
  return { accept: middle("accept"), list: middle("list") };
}

/** The publishers take turns. */
async function roundOf({ system, owner }: Place, list: string, publishers: readonly TestPerson[]): Promise<Waits> {
  const { origin } = system.delivery;
  let nth = 0;
  const next = () => publication(publishers[nth++ % publishers.length] as TestPerson);
  const accepted = await pacedLoad({ url: origin + eventsPath, perSecond, seconds, connections, next });
  const send = createSender(origin);
  const listed: number[] = [];
  while (listed.length < lists) {
    const startedMs = performance.now();
    const { status, text } = await send(owner, "GET", list);
    if (status !== 200) throw new Error(`a list was answered ${status}: ${text}`);
    listed.push(performance.now() - startedMs);
    await sleep(5);
  }
  return { accept: rounded(percentile(accepted, 0.99)), list: rounded(percentile(listed, 0.99)) };
}

function publication({ headers }: TestPerson) {
  const body = JSON.stringify({ type: "order.paid", data: { filling } });
  return { method: "POST", headers: { ...headers, "content-type": "application/json" }, body } as const;
}

/** Lets every account of the crowd publish once, so that none is new when it is measured. */
async function growPublishers({ system }: Place): Promise<void> {
  const pool = new Pool(system.delivery.origin, { connections, pipelining: 1 });
  const left = crowd.values();
  const lane = async () => {
    for (const who of left) {
      const { statusCode, body } = await pool.request({ path: eventsPath, ...publication(who) });
      if (statusCode !== 202) throw new Error(`an event was answered ${statusCode}: ${await body.text()}`);
      await body.dump();
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
  await pool.close();
}

/** Copies the account's endpoints, with their secrets, to other accounts. */
async function growEndpoints({ pool, owner }: Place): Promise<void> {
  const accounts = scale.endpoints / scale.endpointsOfAccount;
  const copyOf = (table: string, change: string) =>
    `select (jsonb_populate_record(t, ${change})).* from ${table} t, generate_series(1, ${accounts}) as nth`;
  const id = (column: string) => `to_jsonb(t.${column} || 'g' || nth)`;
  const endpoints = copyOf(
    "endpoints",
    `jsonb_build_object('id', ${id("id")}, 'account_id', to_jsonb(t.account_id || 'g' || nth))`,
  );
  await pool.query(sql("", `insert into endpoints ${endpoints} where t.account_id = $1`), [owner.accountId]);
  await pool.query(sql("", "vacuum analyze endpoints"));
}

/** Puts due deliveries behind an endpoint of another account whose receiver refuses every connection. */
async function growDue({ pool, system }: Place): Promise<void> {
  const other = testPerson();
  const body = { url: "http://127.0.0.1:9/", event_types: ["order.stuck"] };
  const made = await createSender(system.delivery.origin)(other, "POST", endpointsPath, { body });
  if (made.status !== 201) throw new Error(`an endpoint was answered ${made.status}: ${made.text}`);
  const values = [made.body.id, other.accountId];
  const given = `(select 'whd_' || lpad(to_hex(nth), 26, '0') as id, 'evt_' || lpad(to_hex(nth), 26, '0') as event_id,
    date_trunc('milliseconds', statement_timestamp()) as at from generate_series(1, ${scale.due}) as nth) as given`;
  await pool.query(
    sql(
      "",
      `with made as (insert into deliveries (id, created_at, endpoint_id, account_id, event_id, event_type, status, attempts)
         select id, at, $1, $2, event_id, 'order.stuck', 'pending', 0 from ${given}),
       stored as (insert into webhook_events (id, account_id, type, body, created_at, deliveries)
         select event_id, $2, 'order.stuck', convert_to('{}', 'UTF8'), at, 1 from ${given})
       insert into delivery_queue (endpoint_id, due_at, delivery_id, created_at) select $1, at, id, at from ${given}`,
    ),
    values,
  );
  for (const table of ["deliveries", "delivery_queue", "webhook_events"])
    await pool.query(sql("", `vacuum analyze ${table}`));
}
