import { systemClock } from "@signalbox/core";
import { createDayTables, type Pool as Database, dayMs, openPool, sql, startOfDay } from "@signalbox/storage";
import { createSender, type TestPerson, testPerson } from "@signalbox/testing";
import { Pool } from "undici";
import { benchParts, percentile, rounded } from "./bench-parts.ts";
import { type Grown, middleOfRounds, pageP99Ms, settle } from "./growth-waits.ts";
import { startPublishSystem } from "./ingest-system.ts";
import { numeral } from "./numbers.ts";
import { pacedLoad } from "./paced-load.ts";

const scale = {
  endpoints: 100_000,
  endpointsOfAccount: 10,
  due: 10_000_000,
  days: 30,
  attempts: 20_000_000,
  publishers: 10_000,
};
const attemptsOfDelivery = 2;
const rowsAtOnce = 500_000;
const wantedTimes = 1.5;
const perSecond = 100;
const seconds = 6;
const connections = 16;
const endpointsPath = "/api/v1/webhooks/endpoints";
const eventsPath = "/api/v1/webhooks/events";
const deliveriesPath = "/api/v1/webhooks/deliveries?limit=20";
const filling = "x".repeat(900);

type System = Awaited<ReturnType<typeof startPublishSystem>>;

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
    name: `${scale.days} days with ${numeral(scale.attempts)} attempts for none`,
    list: deliveriesPath,
    grow: growAttempts,
  },
  {
    name: `${numeral(scale.publishers)} accounts that publish for one`,
    list: deliveriesPath,
    grow: growPublishers,
    publishers: crowd,
  },
];

/** Each growth has a system of its own, so that none is measured on what another one left. */
export const deliveryGrowths = growths.map((growth) => () => measure(growth));

async function measure({ name, list, grow, publishers }: Growth): Promise<Grown> {
  await using opened = new AsyncDisposableStack();
  const system = await startPublishSystem(opened);
  const pool = openPool({
    ...benchParts(),
    url: system.databaseUrl,
    max: 2,
    applicationName: "bench",
    statementTimeoutMs: 3_600_000,
    runner: { defer: () => {} },
  });
  opened.defer(() => pool.close());
  const owner = await ownerWithEndpoints(system);
  const place = { system, pool, owner };
  await roundOf(place, list, [owner]); // the first seconds compile the code
  const few = await middleOfRounds(() => roundOf(place, list, [owner]));
  await grow(place);
  const many = await middleOfRounds(() => roundOf(place, list, publishers ?? [owner]));
  return { name, wantedTimes, unit: "ms", kind: "p99", few, many };
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

/** The publishers take turns. */
async function roundOf({ system, owner }: Place, list: string, publishers: readonly TestPerson[]) {
  const { origin } = system.delivery;
  let nth = 0;
  const next = () => publication(publishers[nth++ % publishers.length] as TestPerson);
  const accepted = await pacedLoad({ url: origin + eventsPath, perSecond, seconds, connections, next });
  const send = createSender(origin);
  return {
    accept: rounded(percentile(accepted, 0.99)),
    "first page": await pageP99Ms(() => send(owner, "GET", list)),
  };
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
  await settle(pool, ["endpoints"]);
}

/** Makes an endpoint of another account whose receiver refuses every connection, and returns its id and its account. */
async function strangersEndpoint({ system }: Place): Promise<readonly [endpointId: string, accountId: string]> {
  const other = testPerson();
  const body = { url: "http://127.0.0.1:9/", event_types: ["order.stuck"] };
  const made = await createSender(system.delivery.origin)(other, "POST", endpointsPath, { body });
  if (made.status !== 201) throw new Error(`an endpoint was answered ${made.status}: ${made.text}`);
  return [made.body.id, other.accountId];
}

/** Puts due deliveries behind an endpoint of another account. */
async function growDue(place: Place): Promise<void> {
  const { pool } = place;
  const values = await strangersEndpoint(place);
  for (let first = 1; first <= scale.due; first += rowsAtOnce) {
    const given = `(select 'whd_' || lpad(to_hex(nth), 26, '0') as id, 'evt_' || lpad(to_hex(nth), 26, '0') as event_id,
      date_trunc('milliseconds', statement_timestamp()) as at
      from generate_series(${first}, ${Math.min(first + rowsAtOnce - 1, scale.due)}) as nth) as given`;
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
  }
  await settle(pool, ["deliveries", "delivery_queue", "webhook_events"]);
}

/** Fills the days behind today with what an endpoint of another account was sent. */
async function growAttempts(place: Place): Promise<void> {
  const { pool } = place;
  const values = await strangersEndpoint(place);
  const tables = [
    { name: "deliveries", column: "created_at", fillfactor: 80 },
    { name: "delivery_attempts", column: "started_at", fillfactor: 80 },
  ];
  const days = createDayTables({ pool, clock: systemClock, keepMs: () => dayMs * scale.days }, tables);
  const ofDay = scale.attempts / scale.days / attemptsOfDelivery;
  for (let ago = 1; ago <= scale.days; ago++) {
    const startMs = startOfDay(systemClock.nowMs() - ago * dayMs);
    for (const table of tables) await days.make(table, startMs);
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
      values,
    );
  }
  await settle(
    pool,
    tables.map(({ name }) => name),
  );
}
