import { createSender, type TestPerson, testPerson } from "@signalbox/testing";
import { Pool } from "undici";
import { least, most } from "./history.ts";
import { cpuMsOf, successes, summaryOf } from "./measure.ts";
import { addEndpoint, endpointsPath, eventsPath, openSurroundings, paidOrder, publication } from "./systems.ts";

const perSecond = 200;
const pacedSeconds = 10;
const pollers = 16;
const backlog = 20_000;

/** A pull endpoint with its owner, and connections to the service. */
interface Post {
  readonly who: TestPerson;
  readonly path: string;
  readonly pool: Pool;
  readonly origin: string;
}

export async function run() {
  await using opened = new AsyncDisposableStack();
  const { start } = await openSurroundings(opened);
  const { origin, pid } = await start("webhook-delivery", { "log.level": "warn" });
  const pool = new Pool(origin, { connections: pollers + 8, pipelining: 1, headersTimeout: 60_000 });
  opened.defer(() => pool.close());
  const who = testPerson();
  const path = `${endpointsPath}/${await addEndpoint(origin, who, { type: "pull" })}/messages`;
  const post = { who, path, pool, origin };
  await paced(post); // the first seconds compile the code
  const waits = await paced(post);
  const drained = await drain(post, pid);
  return {
    rows: [
      { what: `${perSecond}/s, publish to answered poll`, ...waits },
      { what: `${backlog} waiting, polled and acknowledged`, ...drained },
    ],
    figures: [
      most("200/s, publish to answered poll, p50", 20, waits.p50Ms, "ms"),
      most("200/s, publish to answered poll, p99", 100, waits.p99Ms, "ms"),
      least("polled and acknowledged by a core of the service", 3_000, drained.perCore, "/s"),
    ],
  };
}

async function call({ pool, who }: Post, method: "GET" | "POST", path: string, body: string | null = null) {
  const headers = { ...who.headers, "content-type": "application/json" };
  const answer = await pool.request<null>({ path, method, headers, body });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${path} was answered ${answer.statusCode}: ${text}`);
  return JSON.parse(text);
}

/** Polls, and acknowledges what came, until `taken` says that it was the last. */
async function poll(post: Post, limit: number, taken: (messages: readonly { body: string }[]) => boolean) {
  for (let isLast = taken([]); !isLast; ) {
    const { items } = await call(post, "GET", `${post.path}?limit=${limit}&wait_seconds=5`);
    isLast = taken(items);
    const leases = { lease_ids: items.map(({ lease_id }: { lease_id: string }) => lease_id) };
    if (items.length > 0) await call(post, "POST", `${post.path}/ack`, JSON.stringify(leases));
  }
}

/** Publishes at an even rate to pollers that wait; the time counts from the moment when the event was due. */
async function paced(post: Post) {
  const waits: number[] = [];
  const taken = (messages: readonly { body: string }[]) => {
    for (const { body } of messages) waits.push(performance.now() - JSON.parse(body).data.dueMs);
    return waits.length >= perSecond * pacedSeconds;
  };
  const polling = Promise.all(Array.from({ length: pollers }, () => poll(post, 10, taken)));
  const next = (dueMs: number) => publication(post.who, crypto.randomUUID(), { dueMs });
  await successes({ origin: post.origin, perSecond, seconds: pacedSeconds, connections: 16, next });
  await polling;
  return summaryOf(waits);
}

/** Publishes a backlog, and then takes all of it. */
async function drain(post: Post, pid: number) {
  const send = createSender(post.origin);
  for (let count = 0; count < backlog; count += 100) {
    const body = Array.from({ length: 100 }, () => paidOrder(crypto.randomUUID()));
    const { status, text } = await send(post.who, "POST", eventsPath, { body });
    if (status !== 202) throw new Error(`events were answered ${status}: ${text}`);
  }
  const [startedMs, cpuBefore] = [performance.now(), await cpuMsOf(pid)];
  let left = backlog;
  const taken = ({ length }: { readonly length: number }) => {
    left -= length;
    return left <= 0;
  };
  await Promise.all(Array.from({ length: 4 }, () => poll(post, 100, taken)));
  const seconds = (performance.now() - startedMs) / 1_000;
  const cpuMs = ((await cpuMsOf(pid)) - cpuBefore) / backlog;
  return { perSecond: Math.round(backlog / seconds), perCore: Math.round(1_000 / cpuMs) };
}
