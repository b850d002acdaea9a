import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createMailbox, createReceiver, eventually, freePort, type Mailbox } from "@signalbox/testing";
import { hurriedRules } from "../incidents/hurried-rules.ts";
import { expectStatus, githubHeaders } from "../journey/client.ts";
import { type AlertDrill, lockTables, openAlertDrill } from "./alert-drill.ts";
import { startPrometheus } from "./start-prometheus.ts";

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
let { system, send, fire, isFiring }: AlertDrill = {} as never;
let mailbox: Mailbox;

before(async () => {
  mailbox = await createMailbox();
  opened.defer(() => mailbox.close());
  const properties = { "mail.url": mailbox.url, "webhook-delivery.attempts.in-flight-max-per-endpoint": "1" };
  const drill = await openAlertDrill({ names, properties });
  opened.defer(() => drill.close());
  ({ system, send, fire, isFiring } = drill);
  expectStatus(await send("/api/v1/webhooks/event-types", { body: { name: "drill.asked" } }), 201);
});
after(() => opened.disposeAsync());

const publish = async () =>
  expectStatus(await send("/api/v1/webhooks/events", { body: { type: "drill.asked", data: {} } }), 202);

async function subscribe(url: string): Promise<() => Promise<void>> {
  const body = { url, event_types: ["drill.asked"], settings: { retry_schedule_seconds: [0, 1, 1, 1, 1] } };
  const { id } = expectStatus(await send(endpointsPath, { body }), 201).json;
  return async () => void expectStatus(await send(`${endpointsPath}/${id}`, { method: "DELETE" }), 204);
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
    assert.equal(await isFiring("ServiceAbsent"), false, "the one that finds them is silent");
  } finally {
    await alone.close();
  }
});
