import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createMailbox, createReceiver, eventually, freePort, type Mailbox } from "@signalbox/testing";
import pg from "pg";
import { hurriedRules } from "../incidents/hurried-rules.ts";
import { type Client, createClient, expectStatus, githubHeaders } from "../journey/client.ts";
import { type EmbeddedSystem, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { type RunningPrometheus, startPrometheus } from "./start-prometheus.ts";

/** Failures of one running system that its alerts have to find: each is played until they fire, and mended. */
const opened = new AsyncDisposableStack();
const endpointsPath = "/api/v1/webhooks/endpoints";
const names = [
  "AccessOutdated",
  "ConfigurationOutdated",
  "DatabaseBusy",
  "EventLoopBlocked",
  "MailsLate",
  "OutboxStuck",
  "ReceiversFail",
  "ServiceAbsent",
  "SourcesRefuse",
  "WebhooksOverdue",
  "WorkerStuck",
];
let system: EmbeddedSystem;
let send: Client;
let prometheus: RunningPrometheus;
let mailbox: Mailbox;

before(async () => {
  mailbox = await createMailbox();
  opened.defer(() => mailbox.close());
  system = await startEmbeddedSystem({
    properties: {
      "mail.url": mailbox.url,
      "webhook-delivery.outbound.allow": "127.0.0.1:*",
      "webhook-delivery.attempts.in-flight-max-per-endpoint": "1",
    },
  });
  opened.defer(async () => {
    await system.stop();
    await removeData(system);
  });
  send = createClient(system.baseUrl, system.apiKey);
  const urls = new Map([["all", system.managementUrl]]);
  prometheus = await startPrometheus(urls, [], { rules: hurriedRules(...names), everySeconds: 2 });
  opened.defer(() => prometheus.close());
  expectStatus(await send("/api/v1/webhooks/event-types", { body: { name: "drill.asked" } }), 201);
});
after(() => opened.disposeAsync());

const firing = async (name: string) => (await prometheus.alerts()).some(({ labels }) => labels.alertname === name);

/** Repeats an action of a failure until all of its alerts fire; after the mend none does. */
async function fire(
  alerts: readonly string[],
  { act, mend }: { readonly act: () => Promise<unknown>; readonly mend: () => Promise<unknown> },
): Promise<void> {
  const waited = new Set(alerts);
  const allFire = async () => {
    await act();
    for (const name of waited) if (await firing(name)) waited.delete(name);
    return waited.size === 0;
  };
  try {
    await eventually(allFire, { timeoutMs: 240_000, message: `all of ${alerts} fire` });
  } finally {
    await mend();
  }
  const noneFires = async () => !(await Promise.all(alerts.map(firing))).includes(true);
  await eventually(noneFires, { timeoutMs: 240_000, message: `none of ${alerts} fires` });
}

const publish = async () =>
  expectStatus(await send("/api/v1/webhooks/events", { body: { type: "drill.asked", data: {} } }), 202);

async function subscribe(url: string): Promise<() => Promise<void>> {
  const body = { url, event_types: ["drill.asked"], settings: { retry_schedule_seconds: [0, 1, 1, 1, 1] } };
  const { id } = expectStatus(await send(endpointsPath, { body }), 201).json;
  return async () => void expectStatus(await send(`${endpointsPath}/${id}`, { method: "DELETE" }), 204);
}

/** Holds locks on all tables of a database, as a session does that somebody left open. */
async function lockTables(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'signalbox')",
  );
  await client.query("begin");
  await client.query(`lock table ${rows.map(({ name }) => name).join(", ")} in access exclusive mode`);
  return () => client.end();
}

test("receivers that refuse connections", async () => {
  const mend = await subscribe(`http://127.0.0.1:${await freePort()}/`);
  await fire(["ReceiversFail"], { act: publish, mend });
});

test("receivers that hang", async () => {
  const receiver = await createReceiver({ instead: "hang" });
  const remove = await subscribe(receiver.url);
  await fire(["WebhooksOverdue"], { act: publish, mend: () => Promise.all([remove(), receiver.close()]) });
});

test("webhooks with a wrong signature", async () => {
  const [secret, body] = ["a-secret-of-the-drill-01", "{}"];
  const source = { name: "Drill", scheme: "github", secret };
  const { ingest_path: path } = expectStatus(await send("/api/v1/webhooks/sources", { body: source }), 201).json;
  const post = async (by: string, status: number) => {
    const headers = githubHeaders(by, body);
    expectStatus(await send(path, { body: Buffer.from(body), headers }), status);
  };
  await fire(["SourcesRefuse"], {
    act: () => post("a-secret-of-somebody-else", 401),
    mend: async () => {
      for (let count = 0; count < 200; count++) await post(secret, 202);
    },
  });
});

test("a mail server that is away", async () => {
  await mailbox.leave();
  const body = { contact_address: "drill@signalbox.example" };
  expectStatus(await send("/api/account/", { method: "PATCH", body }), 200);
  await fire(["MailsLate"], { act: () => sleep(500), mend: () => mailbox.comeBack() });
});

test("a session that somebody left open on the tables of account", async () => {
  const ask = () => send("/graphql", { body: { query: "{ viewer { displayName } }" } });
  await ask();
  const unlock = await lockTables(system.databaseUrl("account"));
  const asked: Promise<unknown>[] = [];
  const act = async () => {
    for (let count = 0; count < 4; count++) asked.push(ask());
    await sleep(500);
  };
  const mend = async () => {
    await unlock();
    await Promise.all(asked);
  };
  await fire(["DatabaseBusy"], { act, mend });
});

test("a process that gets no processor most of the time", async () => {
  const act = async () => {
    process.kill(system.process.pid, "SIGSTOP");
    await sleep(1_200);
    process.kill(system.process.pid, "SIGCONT");
    await sleep(300);
  };
  await fire(["EventLoopBlocked"], { act, mend: async () => {} });
});

test("a session that somebody left open on the log", async () => {
  const unlock = await lockTables(system.eventsUrl);
  // It commits, and its event waits.
  const act = async () => {
    await send("/api/account/", { method: "PATCH", body: { display_name: crypto.randomUUID().slice(0, 8) } });
    await sleep(500);
  };
  await fire(["OutboxStuck", "AccessOutdated", "ConfigurationOutdated", "WorkerStuck"], { act, mend: unlock });
});

test("an exporter that is away", async () => {
  const port = await freePort();
  const job = { job_name: "redis", static_configs: [{ targets: [`127.0.0.1:${port}`] }] };
  const alone = await startPrometheus(new Map(), [job], { rules: hurriedRules("ExporterDown"), everySeconds: 1 });
  const fires = async () => (await alone.alerts()).some(({ labels }) => labels.alertname === "ExporterDown");
  const exporter = createServer((_, response) => response.setHeader("content-type", "text/plain").end("redis_up 1\n"));
  try {
    await eventually(fires, { timeoutMs: 60_000, message: "ExporterDown fires" });
    exporter.listen(port, "127.0.0.1");
    await eventually(async () => !(await fires()), { timeoutMs: 60_000, message: "ExporterDown ends" });
  } finally {
    exporter.close();
    await alone.close();
  }
});

test("a Prometheus that finds no service", async () => {
  const alone = await startPrometheus(new Map(), [], { rules: hurriedRules("ServiceAbsent") });
  try {
    const found = async () =>
      (await alone.alerts()).filter(({ labels }) => labels.alertname === "ServiceAbsent").length;
    await eventually(async () => (await found()) > 5, { timeoutMs: 60_000, message: "every service is missed" });
    assert.equal(await firing("ServiceAbsent"), false, "the one that finds them is silent");
  } finally {
    await alone.close();
  }
});
