import { setTimeout as sleep } from "node:timers/promises";
import { draft, eventOf } from "@signalbox/contracts";
import { newId } from "@signalbox/core";
import { publishEvents } from "@signalbox/events";
import { type Pool, sql } from "@signalbox/storage";
import { createSender, eventually, type TestPerson, testPerson } from "@signalbox/testing";
import { least, most } from "./history.ts";
import { cpuMsOf, hundredths, residentMiBOf, rounded, successes, summaryOf } from "./measure.ts";
import {
  addEndpoint,
  benchParts,
  benchPool,
  eventsPath,
  forked,
  openSurroundings,
  publication,
  type Sink,
  type Surroundings,
  startSink,
} from "./systems.ts";

const backlogEvents = 20_000;
const bodyBytes = 1_024;
const perSecond = 200;
const seconds = 15;
/** Attempts are limited per host, over all accounts: hanging receivers have other hosts. */
const hangingHosts = Array.from({ length: 8 }, (_, at) => `127.0.0.${at + 2}`);
const hangingOfEach = 8;
const unresolvable = 8;
const stuckEvents = 100_000;
const properties = {
  "webhook-delivery.outbound.allow": ["127.0.0.1", ...hangingHosts].map((host) => `${host}:*`).join(","),
  "log.level": "warn",
};

export async function run() {
  await using opened = new AsyncDisposableStack();
  const sink = await startSink(opened, hangingHosts);
  const surroundings = await openSurroundings(opened);
  const who = await ownersOfEndpoints(surroundings, sink);
  const { first: relayPerSecond } = await forked<number>(opened, "relay", [sink.url, String(bodyBytes)]);
  await sink.take();
  const { origin, ...drained } = await drainBacklog(opened, surroundings, { sink, who });
  const quiet = summaryOf(await arrivals(origin, sink, who));
  await hang(origin, sink);
  const beside = summaryOf(await arrivals(origin, sink, who));
  return {
    rows: [
      { what: "Node relay out of its memory (baseline)", perSecond: relayPerSecond },
      { what: "backlog of the event log, drained", ...drained },
      { what: `${perSecond}/s over HTTP, sent to arrival`, ...quiet },
      { what: "the same, beside endpoints that hang", ...beside },
    ],
    figures: [
      least(
        "backlog drained, share of a relay without a database",
        0.28,
        hundredths(drained.perSecond / relayPerSecond),
        "",
        `relay ${relayPerSecond}/s`,
      ),
      most("CPU of the service per delivery", 0.4, drained.cpuMs, "ms"),
      most("WAL per delivery", 5, drained.walKiB, "KiB"),
      most("RSS of the service after the backlog", 250, drained.rssMiB, "MiB"),
      most(`${perSecond}/s over HTTP, sent to arrival, p99`, 5, quiet.p99Ms, "ms"),
      most("the same p99 beside endpoints that hang, times quiet", 2, rounded(beside.p99Ms / quiet.p99Ms)),
    ],
  };
}

/** Creates ten accounts with an endpoint each, and stops the service before there is anything to deliver. */
async function ownersOfEndpoints({ start }: Surroundings, sink: Sink): Promise<readonly TestPerson[]> {
  const who = Array.from({ length: 10 }, () => testPerson());
  const { origin, stop } = await start("webhook-delivery", properties);
  for (const [index, person] of who.entries())
    await addEndpoint(origin, person, { url: `${sink.url}/${index}`, event_types: ["image.updated", "order.paid"] });
  await stop();
  return who;
}

async function drainBacklog(
  opened: AsyncDisposableStack,
  { start, eventLog, databaseUrl }: Surroundings,
  { sink, who }: { readonly sink: Sink; readonly who: readonly TestPerson[] },
) {
  for (let published = 0; published < backlogEvents; published += 500)
    await publishEvents(
      { ...benchParts(), eventLog, service: "images" },
      Array.from({ length: 500 }, (_, nth) => updatedImage(who[nth % who.length] as TestPerson)),
    );
  const pool = benchPool(databaseUrl("webhook-delivery"));
  opened.defer(() => pool.close());
  const walBefore = await walOf(pool);
  const { pid, origin } = await start("webhook-delivery", properties);
  const cpuBefore = await cpuMsOf(pid);
  await eventually(async () => (await sink.count()) >= backlogEvents, { timeoutMs: 300_000 });
  const cpuMs = hundredths(((await cpuMsOf(pid)) - cpuBefore) / backlogEvents);
  const rssMiB = await residentMiBOf(pid);
  await sleep(1_000); // the last results are recorded
  const walKiB = hundredths(((await walOf(pool)) - walBefore) / 1_024 / backlogEvents);
  const times = (await sink.take()).map(({ atMs }) => atMs).sort((a, b) => a - b);
  const perSecond = Math.round((backlogEvents * 1_000) / ((times.at(-1) ?? 0) - (times[0] ?? 0)));
  return { origin, perSecond, cpuMs, walKiB, rssMiB };
}

function updatedImage({ accountId }: TestPerson) {
  const id = newId("img");
  const data = { ...eventOf("image.updated").example, id, title: "x".repeat(200) };
  return draft("image.updated", { subject: id, accountId, data });
}

async function walOf(pool: Pool): Promise<number> {
  const bytes = sql("", "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal");
  return (await pool.query<{ wal: number }>(bytes)).rows[0]?.wal ?? Number.NaN;
}

let published = 0;

/** Publishes at an even rate over HTTP, and measures from the moment when each event was due to its arrival. */
async function arrivals(origin: string, sink: Sink, who: readonly TestPerson[]): Promise<number[]> {
  const dueMs = new Map<string, number>();
  const next = (at: number) => {
    const id = `paced-${++published}`;
    dueMs.set(id, performance.timeOrigin + at);
    return publication(who[published % who.length] as TestPerson, id);
  };
  await successes({ origin, perSecond, seconds, connections: 64, next });
  const waits: number[] = [];
  await eventually(
    async () => {
      for (const { id, atMs } of await sink.take()) {
        const due = dueMs.get(id);
        if (due !== undefined) waits.push(atMs - due);
        dueMs.delete(id);
      }
      return dueMs.size === 0;
    },
    { timeoutMs: 60_000 },
  );
  return waits;
}

/** Adds endpoints that accept requests and never answer, names that never resolve, and a long queue behind one of them. */
async function hang(origin: string, sink: Sink): Promise<void> {
  const stuck = async (who: TestPerson, urls: readonly string[], count: number) => {
    for (const url of urls) await addEndpoint(origin, who, { url, event_types: ["order.stuck"] });
    const body = Array.from({ length: 100 }, () => ({ type: "order.stuck", data: {} }));
    for (let sent = 0; sent < count; sent += 100) {
      const { status, text } = await createSender(origin)(who, "POST", eventsPath, { body });
      if (status !== 202) throw new Error(`events were answered ${status}: ${text}`);
    }
  };
  for (const [nth, host] of hangingHosts.entries()) {
    const [who, url] = [testPerson(), `${sink.url.replace("127.0.0.1", host)}/hang`];
    if (nth === 0) await stuck(who, [url], stuckEvents);
    await stuck(who, Array(hangingOfEach - 1).fill(url), 100);
  }
  await stuck(
    testPerson(),
    Array.from({ length: unresolvable }, (_, nth) => `https://nobody-${nth}.invalid/`),
    100,
  );
}
