import { hash, randomBytes } from "node:crypto";
import { newId, systemClock } from "@signalbox/core";
import { createDayTables, dayMs, openPool, type Pool, sql, startOfDay } from "@signalbox/storage";
import { createReceiver } from "@signalbox/testing";
import { createClient } from "../test-e2e/journey/client.ts";
import { removeData, startEmbeddedSystem } from "../test-e2e/systems/embedded-system.ts";
import { benchParts, percentile, rounded } from "./bench-parts.ts";
import { type BenchResult, type Figure, most } from "./history.ts";

const days = 29;
const events = 500_000;
const deliveries = 1_000_000;
/** Events are about as many images, ten about each. */
const eventsOfImage = 10;
const rowsAtOnce = 10_000;
const asksOfKind = 150;
const warmUps = 30;
const wantedMs = 200;
const endpointsPath = "/api/v1/webhooks/endpoints";

/** An event of the past, with its two deliveries. */
interface PastEvent {
  readonly id: string;
  readonly at: Date;
  readonly trace: string;
  readonly imageId: string;
}

/** Chains over thirty days and a million deliveries of one account, by each kind of id. */
export async function run(): Promise<BenchResult> {
  await using opened = new AsyncDisposableStack();
  const receiver = await createReceiver();
  opened.defer(() => receiver.close());
  const system = await startEmbeddedSystem({
    properties: {
      "webhook-delivery.outbound.allow": "127.0.0.1:*",
      // The bench measures the work, not the rate limit.
      "http.rate-limit.credential.burst": "1000000",
      "http.rate-limit.credential.requests": "1000000",
      "http.rate-limit.account.requests": "1000000",
    },
  });
  opened.defer(() => removeData(system));
  opened.defer(async () => void (await system.stop()));
  const send = createClient(system.baseUrl, system.apiKey);
  const accountId: string = (await send("/api/account/")).json.id;
  const endpointIds = await Promise.all(
    ["one", "other"].map(async (description) => {
      const body = { url: receiver.url, event_types: ["order.*"], description };
      return (await send(endpointsPath, { body })).json.id as string;
    }),
  );
  const pool = openPool({
    ...benchParts(),
    url: system.databaseUrl("webhook-delivery"),
    max: 2,
    applicationName: "bench",
    runner: { defer: () => {} },
  });
  opened.defer(() => pool.close());
  const past = await fill(pool, accountId, endpointIds);
  const waits = new Map<string, number[]>();
  for (const [kind, idOf] of Object.entries(kinds(endpointIds))) {
    const told = kind === nobodys ? 404 : 200;
    waits.set(kind, await ask(send, past.map(idOf), told));
  }
  return report(waits);
}

type Send = ReturnType<typeof createClient>;

const nobodys = "an id that nobody has";

/** The ids of an event by which its chain is asked for. */
const kinds = ([endpointId = ""]: readonly string[]): Record<string, (event: PastEvent) => string> => ({
  "a delivery": ({ id, at }) => deliveryIdOf(id, at, endpointId),
  "an attempt": ({ id, at }) => attemptIdOf(id, at),
  "an event": ({ id }) => id,
  "a trace": ({ trace }) => trace,
  [nobodys]: ({ at }) => newId("whd", at.getTime()),
});

/** Asks for chains one after another, some of them before the measurement. */
async function ask(send: Send, ids: readonly string[], told: 200 | 404): Promise<number[]> {
  const waits: number[] = [];
  for (let nth = 0; nth < warmUps + asksOfKind; nth++) {
    const id = ids[Math.floor(Math.random() * ids.length)] as string;
    const startedMs = performance.now();
    const { status, json } = await send(`/api/v1/why/${encodeURIComponent(id)}`);
    if (nth >= warmUps) waits.push(performance.now() - startedMs);
    if (status !== told || (told === 200 && json.items.length < 5))
      throw new Error(`why of ${id} was answered ${status}: ${JSON.stringify(json)}`);
  }
  return waits;
}

function report(waits: ReadonlyMap<string, readonly number[]>): BenchResult {
  const rows = [...waits].map(([kind, of]) => ({
    what: `why of ${kind}`,
    p50Ms: rounded(percentile(of, 0.5)),
    p99Ms: rounded(percentile(of, 0.99)),
  }));
  const all = [...waits.values()].flat();
  const [slowest] = rows.toSorted((a, b) => b.p99Ms - a.p99Ms);
  const figures: Figure[] = [
    most("why over 1 M deliveries, any id, p99", wantedMs, rounded(percentile(all, 0.99)), "ms"),
    most("why over 1 M deliveries, slowest kind of id, p99", wantedMs, slowest?.p99Ms ?? 0, "ms", slowest?.what),
  ];
  return { rows, figures };
}

const dayTables = ["webhook_events", "deliveries"].map((name) => ({ name, column: "created_at", fillfactor: 80 }));
const attemptDays = { name: "delivery_attempts", column: "started_at", fillfactor: 80 };
const insertEvents = sql(
  "",
  `insert into webhook_events (id, account_id, type, body, traceparent, created_at, deliveries, about_id)
   select id, $1, 'order.paid', $2, '00-' || trace || '-00f067aa0ba902b7-01', at, 2, about
   from unnest($3::text[], $4::timestamptz[], $5::text[], $6::text[]) as given (id, at, trace, about)`,
);
const insertDeliveries = sql(
  "",
  `insert into deliveries (id, created_at, endpoint_id, account_id, event_id, event_type, status, attempts, last_status,
     last_attempt_at)
   select id, at, $2, $1, event_id, 'order.paid', 'succeeded', 1, 200, at
   from unnest($3::text[], $4::timestamptz[], $5::text[]) as given (id, at, event_id)`,
);
const insertAttempts = sql(
  "",
  `insert into delivery_attempts (id, delivery_id, endpoint_id, account_id, number, started_at, duration_ms, status, counted,
     decision, exchange)
   select id, delivery_id, $2, $1, 1, at, 12, 200, true, 'succeeded', '{"requestHeaders":{"content-type":"application/json"}}'
   from unnest($3::text[], $4::timestamptz[], $5::text[]) as given (id, at, delivery_id)`,
);

/** Creates the events of the days before today with their deliveries and attempts; returns a sample of them. */
async function fill(pool: Pool, accountId: string, endpointIds: readonly string[]): Promise<PastEvent[]> {
  const nowMs = Date.now();
  const tables = createDayTables({ pool, clock: systemClock, keepMs: () => (days + 1) * dayMs }, dayTables);
  for (let day = 1; day <= days; day++) {
    for (const table of [...dayTables, attemptDays]) await tables.make(table, startOfDay(nowMs) - day * dayMs);
  }
  // An endpoint that was made today gets nothing of yesterday.
  const made = new Date(nowMs - (days + 1) * dayMs);
  await pool.query(sql("", "update endpoints set created_at = $1 where account_id = $2"), [made, accountId]);
  const body = Buffer.from(JSON.stringify({ type: "order.paid", data: { filling: "x".repeat(200) } }));
  const sample: PastEvent[] = [];
  for (let first = 0; first < events; first += rowsAtOnce) {
    const some = Array.from({ length: rowsAtOnce }, (_, nth) => pastEvent(nowMs, first + nth));
    const [ids, times] = [some.map(({ id }) => id), some.map(({ at }) => at)];
    const [traces, images] = [some.map(({ trace }) => trace), some.map(({ imageId }) => imageId)];
    await pool.query(insertEvents, [accountId, body, ids, times, traces, images]);
    for (const [nth, endpointId] of endpointIds.entries()) {
      const deliveryIds = some.map(({ id, at }) => deliveryIdOf(id, at, endpointId));
      const attempts = some.map(({ id, at }) => (nth === 0 ? attemptIdOf(id, at) : newId("wha", at.getTime())));
      await pool.query(insertDeliveries, [accountId, endpointId, deliveryIds, times, ids]);
      await pool.query(insertAttempts, [accountId, endpointId, attempts, times, deliveryIds]);
    }
    sample.push(...some.filter((_, nth) => nth % 500 === 0));
  }
  // As autovacuum does within minutes: it summarizes the blocks of the index of traces, too.
  for (const { name } of [...dayTables, attemptDays]) await pool.query(sql("", `vacuum (analyze) ${name}`));
  const { rows } = await pool.query<{ count: number }>(sql("", "select count(*)::int as count from deliveries"));
  if ((rows[0]?.count ?? 0) < deliveries) throw new Error(`there are ${rows[0]?.count} deliveries`);
  return sample;
}

/** The events are spread evenly over the days before today, in their order. */
function pastEvent(nowMs: number, nth: number): PastEvent {
  const at = new Date(Math.floor(startOfDay(nowMs) - days * dayMs + (nth * days * dayMs) / events));
  return {
    id: newId("evt", at.getTime()),
    at,
    trace: randomBytes(16).toString("hex"),
    imageId: `img_${String(Math.floor(nth / eventsOfImage)).padStart(26, "0")}`,
  };
}

const crockford = "0123456789abcdefghjkmnpqrstvwxyz";
const base32 = (value: number): string =>
  Array.from(value.toString(32).padStart(8, "0"), (digit) => crockford[Number.parseInt(digit, 32)]).join("");

/** The id that the product gives a delivery: the time of its event, and a digest of both ids. */
function deliveryIdOf(eventId: string, at: Date, endpointId: string): string {
  const digest = hash("sha256", `${eventId}\n${endpointId}`, "buffer");
  return newId("whd", at.getTime()).slice(0, 14) + base32(digest.readUIntBE(0, 5)) + base32(digest.readUIntBE(5, 5));
}

/** An attempt with the time of its event, whose id is known from it. */
const attemptIdOf = (eventId: string, at: Date): string => {
  const [, random = ""] = eventId.split("_");
  return `wha_${newId("wha", at.getTime()).slice(4, 14)}${random.slice(10)}`;
};
