import { openPool, sql } from "@signalbox/storage";
import { createSender, type TestPerson, testPerson } from "@signalbox/testing";
import { Pool } from "undici";
import { benchParts, percentile, rounded } from "./bench-parts.ts";
import { cpuMsOf } from "./delivery.ts";
import { least, most } from "./history.ts";
import { startPublishSystem } from "./ingest-system.ts";
import { pacedLoad } from "./paced-load.ts";

const perSecond = 200;
const pacedSeconds = 10;
const pollers = 16;
const backlog = 20_000;
const behindRows = 1_000_000;
const endpointsPath = "/api/v1/webhooks/endpoints";
const eventsPath = "/api/v1/webhooks/events";
const filling = "x".repeat(900);
const json = { "content-type": "application/json" };

type System = Awaited<ReturnType<typeof startPublishSystem>>;

/** A pull endpoint with its owner, and connections to the service. */
interface Post {
  readonly who: TestPerson;
  readonly id: string;
  readonly pool: Pool;
  readonly origin: string;
}

export async function run() {
  await using opened = new AsyncDisposableStack();
  const system = await startPublishSystem(opened);
  const post = await openPost(system);
  opened.defer(() => post.pool.close());
  await paced(post);
  const quiet = await paced(post);
  const drained = await drain(system, post);
  await fallBehind(system, post);
  const beside = await paced(post);
  const factor = Math.round((beside.p99Ms / quiet.p99Ms) * 100) / 100;
  return {
    rows: [
      { what: `${perSecond}/s, publish to answered poll`, ...quiet },
      { what: `${backlog} waiting, polled and acknowledged`, ...drained },
      { what: "the first again, beside a consumer a million behind", ...beside },
    ],
    figures: [
      most("200/s, publish to answered poll, p50", 20, quiet.p50Ms, "ms"),
      most("200/s, publish to answered poll, p99", 100, quiet.p99Ms, "ms"),
      least("polled and acknowledged by a core of the service", 3_000, drained.perCore, "/s"),
      most("p99 beside a consumer a million behind, to that without it", 2, factor),
    ],
  };
}

async function openPost({ delivery }: System): Promise<Post> {
  const who = testPerson();
  const body = { type: "pull", event_types: ["order.paid"] };
  const { body: made } = await createSender(delivery.origin)(who, "POST", endpointsPath, { body });
  const pool = new Pool(delivery.origin, { connections: pollers + 8, pipelining: 1, headersTimeout: 60_000 });
  return { who, id: made.id, pool, origin: delivery.origin };
}

async function call({ pool, who }: Post, method: "GET" | "POST", path: string, given: string | null = null) {
  const { statusCode, body: answer } = await pool.request<null>({
    path,
    method,
    headers: { ...who.headers, ...json },
    body: given,
  });
  const text = await answer.text();
  if (statusCode >= 300) throw new Error(`${path} was answered ${statusCode}: ${text}`);
  return JSON.parse(text);
}

/** Polls, and acknowledges what came; returns the messages of one answer. */
async function take(post: Post, limit: number): Promise<{ body: string; lease_id: string }[]> {
  const path = `${endpointsPath}/${post.id}/messages`;
  const { items } = await call(post, "GET", `${path}?limit=${limit}&wait_seconds=5`);
  return items;
}

async function ack(post: Post, messages: readonly { lease_id: string }[]): Promise<void> {
  const leases = JSON.stringify({ lease_ids: messages.map(({ lease_id: lease }) => lease) });
  if (messages.length > 0) await call(post, "POST", `${endpointsPath}/${post.id}/messages/ack`, leases);
}

/** Publishes at an even rate to pollers that wait; the time counts from the moment when the event was due. */
async function paced(post: Post) {
  const waits: number[] = [];
  const expected = perSecond * pacedSeconds;
  const poller = async () => {
    while (waits.length < expected) {
      const messages = await take(post, 10);
      const nowMs = performance.now();
      for (const { body } of messages) waits.push(nowMs - JSON.parse(body).data.dueMs);
      await ack(post, messages);
    }
  };
  const polling = Promise.all(Array.from({ length: pollers }, poller));
  const next = (dueMs: number) => ({
    method: "POST" as const,
    headers: { ...post.who.headers, ...json },
    body: JSON.stringify({ type: "order.paid", data: { dueMs, filling } }),
  });
  await pacedLoad({ url: post.origin + eventsPath, perSecond, seconds: pacedSeconds, connections: 16, next });
  await polling;
  return { p50Ms: rounded(percentile(waits, 0.5)), p99Ms: rounded(percentile(waits, 0.99)) };
}

/** Publishes a backlog, and then takes all of it. */
async function drain({ delivery }: System, post: Post) {
  const events = JSON.stringify(Array.from({ length: 100 }, () => ({ type: "order.paid", data: { filling } })));
  for (let count = 0; count < backlog; count += 100) await call(post, "POST", eventsPath, events);
  const [startedMs, cpuBefore] = [performance.now(), await cpuMsOf(delivery.pid)];
  let taken = 0;
  const client = async () => {
    while (taken < backlog) {
      const messages = await take(post, 100);
      taken += messages.length;
      await ack(post, messages);
    }
  };
  await Promise.all(Array.from({ length: 4 }, client));
  const seconds = (performance.now() - startedMs) / 1_000;
  const cpuMs = ((await cpuMsOf(delivery.pid)) - cpuBefore) / backlog;
  return { perSecond: Math.round(backlog / seconds), perCore: Math.round(1_000 / cpuMs) };
}

const insertQueue = sql(
  "",
  `insert into delivery_queue (endpoint_id, due_at, delivery_id, created_at)
   select $1, now() - n * interval '1 us', 'whd_bench' || n, now() from generate_series($2::int, $3::int) n`,
);

/** Makes a named consumer with a million messages that it has not taken. */
async function fallBehind({ databaseUrl }: System, { who, id, origin }: Post): Promise<void> {
  await createSender(origin)(who, "PUT", `${endpointsPath}/${id}/consumers/behind`, { body: {} });
  const parts = { ...benchParts(), runner: { defer: () => {} } };
  const pool = openPool({ url: databaseUrl, max: 1, applicationName: "bench", ...parts });
  for (let from = 1; from <= behindRows; from += 100_000)
    await pool.query(insertQueue, [`${id}:behind`, from, from + 99_999]);
  await pool.close();
}
