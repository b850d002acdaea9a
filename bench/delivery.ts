import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { draft, eventOf, topics } from "@signalbox/contracts";
import { newId, systemClock } from "@signalbox/core";
import { type EventLog, openEventLog, publishEvents } from "@signalbox/events";
import { openPool, type Pool, sql } from "@signalbox/storage";
import {
  createSender,
  eventually,
  freePort,
  internalToken,
  startAccountStandIn,
  startProcess,
  type TestPerson,
  type TestProcess,
  testDatabase,
  testPerson,
} from "@signalbox/testing";
import { benchParts, percentile, rounded } from "./bench-parts.ts";
import { publishedRows, waitingRows } from "./delivery-crowds.ts";
import { hangingHosts } from "./hanging-hosts.ts";
import { least, most } from "./history.ts";

const service = fileURLToPath(new URL("../services/webhook-delivery/src/main.ts", import.meta.url));
const relayFile = new URL("./delivery-relay.ts", import.meta.url);
const sinkFile = new URL("./delivery-sink.ts", import.meta.url);
const endpoints = 10;
const backlogEvents = 20_000;
const pace = { perSecond: 200, seconds: 15 };
const bodyBytes = 1_024;
const targets = {
  shareOfRelay: 0.28,
  cpuMs: 0.4,
  walKiB: 5,
  transactions: 0.3,
  rssMiB: 250,
  arrivalP50Ms: 10,
  arrivalP99Ms: 30,
};

/** A system with one account, whose endpoints post to a sink. */
interface System {
  readonly who: TestPerson[];
  readonly eventLog: EventLog;
  readonly pool: Pool;
  readonly sink: Sink;
  readonly origin: string;
  start(): Promise<TestProcess>;
}

export async function run() {
  await using opened = new AsyncDisposableStack();
  const system = await prepare(opened);
  const relaySeconds = await timedRelay(system.sink);
  const drained = await drainBacklog(system, opened);
  const paced = await pacedArrivals(system);
  const [over, waiting] = [await publishedRows(system), await waitingRows(system)];
  const ourPerSecond = backlogEvents / drained.seconds;
  const relayPerSecond = backlogEvents / relaySeconds;
  const relayWords = `relay ${Math.round(relayPerSecond)}/s`;
  const share = Math.round((ourPerSecond / relayPerSecond) * 100) / 100;
  const [p50, p99] = [0.5, 0.99].map((part) => rounded(percentile(paced, part))) as [number, number];
  const cpuMs = Math.round((drained.cpuMs / backlogEvents) * 100) / 100;
  return {
    rows: [
      { what: "Node relay out of its memory (baseline)", perSecond: Math.round(relayPerSecond) },
      { what: "backlog of the event log, drained", perSecond: Math.round(ourPerSecond), cpuMs, ...drained.costs },
      { what: `${pace.perSecond}/s, publish to arrival`, p50Ms: p50, p99Ms: p99 },
      ...[...over.rows, ...waiting.rows],
    ],
    figures: [
      least("backlog drained, share of a relay without a database", targets.shareOfRelay, share, "", relayWords),
      most("CPU of the service per delivery", targets.cpuMs, cpuMs, "ms"),
      most("WAL per delivery", targets.walKiB, drained.costs.walKiB, "KiB"),
      most("transactions per delivery", targets.transactions, drained.costs.transactions),
      most("RSS of the service after the backlog", targets.rssMiB, drained.rssMiB, "MiB"),
      most("200/s on the log, publish to arrival, p50", targets.arrivalP50Ms, p50, "ms"),
      most("200/s on the log, publish to arrival, p99", targets.arrivalP99Ms, p99, "ms"),
      ...[...over.figures, ...waiting.figures],
    ],
  };
}

async function prepare(opened: AsyncDisposableStack): Promise<System> {
  const [database, events, account] = await Promise.all([testDatabase(), testDatabase(), startAccountStandIn()]);
  for (const part of [database, events, account]) opened.defer(() => part.close());
  const parts = benchParts();
  const eventsUrl = events.url.replace(/^postgres(ql)?:/, "postgres:");
  const eventLog = await openEventLog(eventsUrl, { clientId: "bench", ...parts });
  opened.defer(() => eventLog.close());
  await eventLog.ensureTopics(topics);
  const pool = openPool({ url: database.url, max: 2, applicationName: "bench", ...parts, runner: { defer: () => {} } });
  opened.defer(() => pool.close());
  const sink = await startSink();
  opened.defer(() => sink.close());
  const port = await freePort();
  const start = async () => {
    const started = startProcess(service, [], {
      SIGNALBOX_DATABASE_URL: database.url,
      SIGNALBOX_EVENTS_URL: eventsUrl,
      SIGNALBOX_CACHE_URL: "memory:",
      SIGNALBOX_INTERNAL_TOKEN: internalToken,
      SIGNALBOX_ACCOUNT_INTERNAL_URL: account.url,
      SIGNALBOX_SECRETS_KEYS: `bench:${Buffer.alloc(32, 7).toString("base64")}`,
      SIGNALBOX_HTTP_PORT: String(port),
      SIGNALBOX_MANAGEMENT_SERVER_PORT: String(await freePort()),
      SIGNALBOX_WEBHOOK_DELIVERY_OUTBOUND_ALLOW: ["127.0.0.1", ...hangingHosts].map((host) => `${host}:*`).join(","),
      // The bench measures the work, not the rate limit.
      SIGNALBOX_HTTP_RATE_LIMIT_CREDENTIAL_REQUESTS: "1000000",
      SIGNALBOX_HTTP_RATE_LIMIT_CREDENTIAL_BURST: "1000000",
      SIGNALBOX_HTTP_RATE_LIMIT_ACCOUNT_REQUESTS: "1000000",
      SIGNALBOX_LOG_LEVEL: "warn",
      LOG_LEVEL: "warn",
    });
    const send = createSender(`http://127.0.0.1:${port}`);
    await eventually(async () => (await send(testPerson(), "GET", "/api/v1/webhooks/endpoints")).status === 200);
    return started;
  };
  const who = Array.from({ length: endpoints }, () => testPerson());
  const first = await start();
  const send = createSender(`http://127.0.0.1:${port}`);
  for (const [index, person] of who.entries()) {
    const body = { url: `${sink.url}/${index}`, event_types: ["image.updated", "order.paid"] };
    await send(person, "POST", "/api/v1/webhooks/endpoints", { body });
  }
  first.signal("SIGTERM");
  await first.exited;
  return { who, eventLog, pool, sink, start, origin: `http://127.0.0.1:${port}` };
}

/** Publishes for every account in rotation. */
function publisherOf({ eventLog, who }: Pick<System, "eventLog" | "who">) {
  const example = eventOf("image.updated").example;
  let next = 0;
  return (count: number) => {
    const drafts = Array.from({ length: count }, () => {
      const { accountId } = who[next++ % who.length] as TestPerson;
      const id = newId("img");
      const data = { ...example, id, title: "x".repeat(200) };
      return draft("image.updated", { subject: id, accountId, data });
    });
    return publishEvents({ ...benchParts(), clock: systemClock, eventLog, service: "images" }, drafts);
  };
}

async function drainBacklog(system: System, opened: AsyncDisposableStack) {
  const publish = publisherOf(system);
  for (let published = 0; published < backlogEvents; published += 500) await publish(500);
  const before = await costsOf(system.pool);
  const { pid, kill } = await system.start();
  opened.defer(async () => void (await kill()));
  const cpuBefore = await cpuMsOf(pid);
  await eventually(async () => (await system.sink.count()) >= backlogEvents, { timeoutMs: 300_000 });
  const cpuMs = (await cpuMsOf(pid)) - cpuBefore;
  const rssMiB = await rssMiBOf(pid);
  await sleep(1_000); // the last results are recorded
  const after = await costsOf(system.pool);
  const times = (await system.sink.take()).map(({ atMs }) => atMs).sort((a, b) => a - b);
  const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
  const perDelivery = (value: number) => Math.round((value / backlogEvents) * 100) / 100;
  const costs = {
    walKiB: perDelivery((after.wal - before.wal) / 1024),
    transactions: perDelivery(after.transactions - before.transactions),
  };
  return { seconds, cpuMs, rssMiB, costs };
}

/** Measures from the due moment of each publish to the arrival of its event. */
async function pacedArrivals(system: System): Promise<number[]> {
  const publish = publisherOf(system);
  const dueMs = new Map<string, number>();
  const startedMs = performance.timeOrigin + performance.now();
  const running: Promise<void>[] = [];
  const waits: number[] = [];
  for (let index = 0; index < pace.perSecond * pace.seconds; index++) {
    const due = startedMs + (index * 1000) / pace.perSecond;
    const waitMs = due - (performance.timeOrigin + performance.now());
    if (waitMs > 0) await sleep(waitMs);
    waits.push(due);
    running.push(publish(1));
  }
  await Promise.all(running);
  await eventually(async () => (await system.sink.count()) >= waits.length, { timeoutMs: 60_000 });
  const arrived = await system.sink.take();
  // Events are created in order, and so are the ids: UUIDv7.
  const ids = arrived.map(({ id }) => id).toSorted();
  for (const [index, id] of ids.entries()) dueMs.set(id, waits[index] ?? Number.NaN);
  return arrived.map(({ id, atMs }) => atMs - (dueMs.get(id) ?? Number.NaN));
}

async function timedRelay(sink: Sink): Promise<number> {
  const relay = fork(relayFile, [sink.url, String(backlogEvents), String(bodyBytes)]);
  await once(relay, "exit");
  const times = (await sink.take()).map(({ atMs }) => atMs).sort((a, b) => a - b);
  return ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
}

interface Sink {
  readonly url: string;
  count(): Promise<number>;
  /** Returns the arrivals since the last call. */
  take(): Promise<{ id: string; atMs: number }[]>;
  close(): void;
}

export async function startSink(): Promise<Sink> {
  const child: ChildProcess = fork(sinkFile, { serialization: "advanced" });
  const ask = async <T>(message: string | null): Promise<T> => {
    if (message !== null) child.send(message);
    const [answer] = (await once(child, "message")) as [T];
    return answer;
  };
  const { port } = await ask<{ port: number }>(null);
  return {
    url: `http://127.0.0.1:${port}`,
    count: async () => (await ask<{ count: number }>("count")).count,
    take: async () => (await ask<{ arrivals: { id: string; atMs: number }[] }>("take")).arrivals,
    close: () => child.disconnect(),
  };
}

const costs = sql(
  "",
  `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal,
     (select xact_commit::float8 from pg_stat_database where datname = current_database()) as transactions`,
);

/** Other users of the engine write into the same log. */
export async function costsOf(pool: Pool): Promise<{ wal: number; transactions: number }> {
  const [row] = (await pool.query<{ wal: number; transactions: number }>(costs)).rows;
  return row ?? { wal: Number.NaN, transactions: Number.NaN };
}

export async function cpuMsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export async function rssMiBOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}
