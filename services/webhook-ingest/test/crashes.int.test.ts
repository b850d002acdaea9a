import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { environment } from "@signalbox/config";
import { seconds } from "@signalbox/core";
import { decodeEvent, openEventLog } from "@signalbox/events";
import { openPool, sql } from "@signalbox/storage";
import {
  createSender,
  eventually,
  freePort,
  internalToken,
  killInTurn,
  sendEvenly,
  startAccountStandIn,
  startEngine,
  startProcess,
  superviseProcess,
  type TestProcess,
  testContext,
  testPerson,
} from "@signalbox/testing";
import { createTopics, sourcesPath } from "./harness.ts";
import { type Scheme, secrets, sign, type Webhook } from "./signing.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const instances = 2;
const perSecond = 300;
const openMax = 150;
/** `INGEST_STORM_SECONDS=60` makes it the long run. */
const stormMs = seconds(Number(environment().INGEST_STORM_SECONDS ?? 14));
const schemes: readonly Scheme[] = ["stripe", "github", "hmac"];

for (const [mode, log] of [
  ["embedded", "postgres"],
  ["engines", "kafka"],
] as const) {
  test(`${mode}: through any kills, every webhook answered 202 is one event, even when it is sent again`, async (context) => {
    await using opened = new AsyncDisposableStack();
    const system = await startSystem(opened, log);
    const partner = startPartner(system);
    const killed = await killInTurn({ ...system, forMs: stormMs });
    await partner.finish();
    const events = await eventsOf(system);
    const wrong = [...partner.sent].filter((id) => events.get(id)?.size !== 1);
    assert.deepEqual(wrong.slice(0, 10), [], `${wrong.length} of ${partner.sent.size} have not exactly one event`);
    assert.deepEqual([...events.keys()].filter((id) => !partner.sent.has(id)).slice(0, 10), []);
    assert.ok(
      Object.values(killed).every((count) => count >= 2),
      JSON.stringify(killed),
    );
    context.diagnostic(`${partner.sent.size} webhooks, ${partner.posts()} posts, killed ${JSON.stringify(killed)}`);
  });
}

type System = Awaited<ReturnType<typeof startSystem>>;

/** Two instances on a database and a log of their own, and a source of each scheme. */
async function startSystem(opened: AsyncDisposableStack, logEngine: "postgres" | "kafka") {
  const [database, log] = await Promise.all([startEngine("postgres"), startEngine(logEngine)]);
  for (const engine of [database, log]) opened.defer(() => engine.close());
  const account = await startAccountStandIn();
  opened.defer(() => account.close());
  const eventsUrl = logEngine === "postgres" ? log.url.replace(/^postgresql:/, "postgres:") : log.url;
  await createTopics(eventsUrl);
  const ports = await Promise.all(Array.from({ length: instances }, () => freePort()));
  const start = (port: number) =>
    startInstance(port, { databaseUrl: database.url, eventsUrl, accountUrl: account.url });
  const processes = ports.map((port) => superviseProcess(() => start(port)));
  opened.defer(async () => void (await Promise.all(processes.map(({ end }) => end()))));
  const origins = ports.map((port) => `http://127.0.0.1:${port}`);
  const sources = new Map<Scheme, string>();
  const send = createSender(origins[0] ?? "");
  const who = testPerson();
  await eventually(async () => (await send(who, "GET", sourcesPath).catch(() => null))?.status === 200, {
    timeoutMs: 60_000,
  });
  for (const scheme of schemes) {
    const body = { name: scheme, scheme, secret: secrets[scheme] };
    sources.set(scheme, (await send(who, "POST", sourcesPath, { body })).body.ingest_path);
  }
  return { database, log, eventsUrl, processes, origins, sources };
}

async function startInstance(
  port: number,
  { databaseUrl, eventsUrl, accountUrl }: Readonly<Record<"databaseUrl" | "eventsUrl" | "accountUrl", string>>,
): Promise<TestProcess> {
  return startProcess(main, [], {
    SIGNALBOX_DATABASE_URL: databaseUrl,
    SIGNALBOX_EVENTS_URL: eventsUrl,
    SIGNALBOX_CACHE_URL: "memory:",
    SIGNALBOX_INTERNAL_TOKEN: internalToken,
    SIGNALBOX_ACCOUNT_INTERNAL_URL: accountUrl,
    SIGNALBOX_SECRETS_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
    SIGNALBOX_HTTP_PORT: String(port),
    SIGNALBOX_MANAGEMENT_SERVER_PORT: String(await freePort()),
    SIGNALBOX_LOG_LEVEL: "error",
  });
}

/**
 * Posts webhooks as partners do: a refused one is repeated until it is accepted, and half of the accepted ones are sent
 * once more.
 */
function startPartner({ origins, sources }: System) {
  const sent = new Set<string>();
  let posts = 0;

  async function post(path: string, { headers, body }: Webhook): Promise<boolean> {
    posts++;
    const origin = origins[posts % origins.length];
    const options = { method: "POST", headers, body: String(body), signal: AbortSignal.timeout(30_000) };
    const answer = await fetch(`${origin}${path}`, options).catch(() => null);
    await answer?.arrayBuffer().catch(() => null);
    return answer?.status === 202;
  }

  async function deliver(nth: number): Promise<void> {
    const scheme = schemes[nth % schemes.length] as Scheme;
    const path = sources.get(scheme) ?? "";
    const id = crypto.randomUUID();
    const webhook = sign(scheme, { id });
    sent.add(id);
    const again = Math.random();
    // One in four is sent twice at the same moment, one in four once more after it was accepted.
    const first = again < 0.25 ? [post(path, webhook), post(path, webhook)] : [post(path, webhook)];
    let taken = (await Promise.all(first)).some(Boolean);
    while (!taken) {
      await sleep(500 + Math.random() * 1_000);
      taken = await post(path, webhook);
    }
    if (again > 0.75) await post(path, webhook);
  }

  const { finish } = sendEvenly({ perSecond, openMax, send: deliver });
  return { sent, posts: () => posts, finish };
}

const waiting = sql("", "select count(*)::int as count from signalbox.outbox");

/** Events of each webhook by their ids, once the outbox is empty. A duplicate on the log counts as one. */
async function eventsOf({ database, eventsUrl }: System): Promise<Map<string, Set<string>>> {
  const context = testContext("webhook-ingest", {});
  const pool = openPool({ ...context, url: database.url, max: 1, applicationName: "check" });
  await eventually(async () => (await pool.query<{ count: number }>(waiting)).rows[0]?.count === 0, {
    timeoutMs: 60_000,
  });
  const eventLog = await openEventLog(eventsUrl, { clientId: "check", ...context });
  const events = new Map<string, Set<string>>();
  const reader = await eventLog.broadcast({
    ...{ service: "checks", instance: crypto.randomUUID(), topics: ["signalbox.webhook-received.v1"], from: "start" },
    onRecord(record) {
      const { id, data } = decodeEvent("webhook.received", record);
      const known = events.get(data.delivery_id) ?? new Set();
      events.set(data.delivery_id, known.add(id));
    },
  });
  await reader.caughtUp;
  await reader.close();
  await eventLog.close();
  await context.close();
  return events;
}
