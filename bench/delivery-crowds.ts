import { type Pool, sql } from "@signalbox/storage";
import { createSender, eventually, type TestPerson, testPerson } from "@signalbox/testing";
import { percentile, rounded } from "./bench-parts.ts";
import { hangingHosts } from "./hanging-hosts.ts";
import { most } from "./history.ts";
import { pacedLoad } from "./paced-load.ts";

/** The parts of the system in `delivery.ts` that are needed here. */
interface Crowded {
  readonly origin: string;
  readonly who: readonly TestPerson[];
  readonly pool: Pool;
  readonly sink: { readonly url: string; take(): Promise<{ id: string; atMs: number }[]> };
}

const perSecond = 200;
const seconds = 15;
const hangingOfEach = 8;
const unresolvable = 8;
const stuckEvents = 100_000;
const waitingDeliveries = 1_000_000;
const rowsAtOnce = 50_000;
const looks = 20;
const endpointsPath = "/api/v1/webhooks/endpoints";
const eventsPath = "/api/v1/webhooks/events";
const filling = "x".repeat(900);

interface Waits {
  readonly accept: readonly number[];
  readonly acceptToArrival: readonly number[];
  readonly arrival: readonly number[];
}

let published = 0;

/** Publishes at an even rate over HTTP; each time is measured from the due moment. */
async function publishPaced({ origin, who, sink }: Crowded): Promise<Waits> {
  const dueMs = new Map<string, number>();
  const accept = await pacedLoad({
    url: `${origin}${eventsPath}`,
    perSecond,
    seconds,
    connections: 64,
    next(at) {
      const person = who[published++ % who.length] as TestPerson;
      const id = `paced-${published}`;
      dueMs.set(id, performance.timeOrigin + at);
      const body = JSON.stringify({ id, type: "order.paid", data: { filling } });
      return { method: "POST", headers: { ...person.headers, "content-type": "application/json" }, body };
    },
  });
  const arrivals = new Map<string, number>();
  await eventually(
    async () => {
      for (const { id, atMs } of await sink.take()) if (dueMs.has(id)) arrivals.set(id, atMs);
      return arrivals.size === dueMs.size;
    },
    { timeoutMs: 60_000 },
  );
  const arrival = [...dueMs].map(([id, due]) => (arrivals.get(id) ?? Number.NaN) - due);
  return { accept, arrival, acceptToArrival: arrival.map((wait, at) => wait - (accept[at] ?? 0)) };
}

const p = (samples: readonly number[]) => ({
  p50Ms: rounded(percentile(samples, 0.5)),
  p99Ms: rounded(percentile(samples, 0.99)),
});

/** Measures events published over HTTP, and the same beside hanging endpoints. */
export async function publishedRows(system: Crowded) {
  const quiet = await publishPaced(system);
  await hang(system);
  const crowded = await publishPaced(system);
  const [accept, toArrival, arrival, beside] = [
    p(quiet.accept),
    p(quiet.acceptToArrival),
    p(quiet.arrival),
    p(crowded.arrival),
  ];
  const factor = rounded(beside.p99Ms / arrival.p99Ms);
  return {
    rows: [
      { what: `${perSecond}/s over HTTP, accepted`, ...accept },
      { what: "the same, accepted to arrival", ...toArrival },
      { what: "the same, sent to arrival", ...arrival },
      { what: "the same, beside endpoints that hang", ...beside },
    ],
    figures: [
      most("200/s over HTTP, accepted, p50", 1, accept.p50Ms, "ms"),
      most("200/s over HTTP, accepted, p99", 3, accept.p99Ms, "ms"),
      most("200/s over HTTP, accepted to arrival, p50", 0.4, toArrival.p50Ms, "ms"),
      most("200/s over HTTP, accepted to arrival, p99", 2, toArrival.p99Ms, "ms"),
      most("200/s over HTTP, sent to arrival, p99", 5, arrival.p99Ms, "ms"),
      most("the same p99 beside endpoints that hang, times quiet", 2, factor),
    ],
  };
}

/**
 * Adds endpoints that accept requests and never answer, names that never resolve, and a long queue behind one of them.
 */
async function hang({ origin, sink }: Crowded): Promise<void> {
  const send = createSender(origin);
  const people = hangingHosts.map((host) => ({ ...testPerson(), url: `${sink.url.replace("127.0.0.1", host)}/hang` }));
  const register = async (person: TestPerson, url: string) => {
    const { status, text } = await send(person, "POST", endpointsPath, { body: { url, event_types: ["order.stuck"] } });
    if (status !== 201) throw new Error(`an endpoint was answered ${status}: ${text}`);
  };
  for (const person of people.slice(0, 1)) {
    await register(person, person.url);
    await publishStuck(send, person, stuckEvents);
  }
  for (const person of people) {
    for (let nth = 1; nth < hangingOfEach; nth++) await register(person, person.url);
    await publishStuck(send, person, 100);
  }
  const lost = testPerson();
  for (let nth = 0; nth < unresolvable; nth++) await register(lost, `https://nobody-${nth}.invalid/`);
  await publishStuck(send, lost, 100);
}

async function publishStuck(send: ReturnType<typeof createSender>, person: TestPerson, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 100) {
    const body = Array.from({ length: 100 }, () => ({ type: "order.stuck", data: {} }));
    const { status, text } = await send(person, "POST", eventsPath, { body });
    if (status !== 202) throw new Error(`events were answered ${status}: ${text}`);
  }
}

const insertEvents = sql(
  "",
  `insert into webhook_events (id, account_id, type, body, created_at, deliveries)
   select 'bench-' || n, $1, 'order.paid', '\\x7b7d', date_trunc('second', now()), 1 from generate_series($2::int, $3::int) n`,
);
const insertDeliveries = sql(
  "",
  `insert into deliveries (id, created_at, endpoint_id, account_id, event_id, event_type, status, attempts)
   select 'whd_bench' || n, date_trunc('second', now()), $4, $1, 'bench-' || n, 'order.paid', 'pending', 0
   from generate_series($2::int, $3::int) n`,
);
const insertQueue = sql(
  "",
  `insert into delivery_queue (endpoint_id, due_at, delivery_id, created_at)
   select $4, now() + n * interval '1 us', 'whd_bench' || n, date_trunc('second', now())
   from generate_series($2::int, $3::int) n where $1 <> ''`,
);

/** Measures pausing an endpoint, resuming it and searching its deliveries with this many waiting. */
export async function waitingRows({ origin, pool, sink }: Crowded) {
  const send = createSender(origin);
  const person = testPerson();
  const { body } = await send(person, "POST", endpointsPath, { body: { url: sink.url, event_types: ["order.paid"] } });
  const path = `${endpointsPath}/${body.id}`;
  await send(person, "POST", `${path}/pause`);
  for (let from = 1; from <= waitingDeliveries; from += rowsAtOnce) {
    const values = [person.accountId, from, from + rowsAtOnce - 1];
    await pool.query(insertEvents, values);
    await pool.query(insertDeliveries, [...values, body.id]);
    await pool.query(insertQueue, [...values, body.id]);
  }
  const timed = async (work: () => Promise<{ status: number }>) => {
    const startedMs = performance.now();
    const { status } = await work();
    if (status >= 300) throw new Error(`answered ${status}`);
    return performance.now() - startedMs;
  };
  const [pauses, searches]: [number[], number[]] = [[], []];
  for (let look = 0; look < looks; look++) {
    await send(person, "POST", `${path}/resume`);
    pauses.push(await timed(() => send(person, "POST", `${path}/pause`)));
    const search = `/api/v1/webhooks/deliveries?endpoint_id=${body.id}&type=order.*&limit=50`;
    searches.push(await timed(() => send(person, "GET", search)));
  }
  const [pause, search] = [p(pauses), p(searches)];
  return {
    rows: [
      { what: `pause with ${waitingDeliveries} waiting`, ...pause },
      { what: `first page of a search in ${waitingDeliveries}`, ...search },
    ],
    figures: [
      most("pause with a million waiting, p99", 50, pause.p99Ms, "ms"),
      most("first page of a search in a million, p99", 50, search.p99Ms, "ms"),
    ],
  };
}
