import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  createTcpProxy,
  eventually,
  freePort,
  internalToken,
  startAccountStandIn,
  startProcess,
  type TcpProxy,
  testDatabase,
  testPerson,
} from "@signalbox/testing";
import { createTopics, type Harness, sourcesPath, startIngest } from "./harness.ts";
import { secrets, sign } from "./signing.ts";

const hmac = { name: "Shop", scheme: "hmac", secret: secrets.hmac };

/** The service, with a way to take one of its databases away from it alone. */
async function behindProxy(
  property: "database.url" | "events.url",
  work: (ingest: Harness, proxy: TcpProxy) => Promise<void>,
) {
  const database = await testDatabase();
  const proxy = await createTcpProxy({ port: Number(new URL(database.url).port) });
  const ingest = await startIngest({ [property]: proxy.urlFor(database.url) });
  try {
    await work(ingest, proxy);
  } finally {
    await proxy.accept().catch(() => {});
    await ingest.close();
    await proxy.close();
    await database.close();
  }
}

test("while the database is away a partner gets 503 with Retry-After, and afterwards it works without help", async () => {
  await behindProxy("database.url", async (ingest, proxy) => {
    const source = await ingest.newSource(testPerson(), hmac);
    await proxy.refuse();
    const answer = await ingest.post(source, sign("hmac"));
    assert.deepEqual([answer.status, answer.body.error.code], [503, "unavailable"]);
    assert.ok(Number(answer.headers.get("retry-after")) > 0);
    await proxy.accept();
    await eventually(async () => (await ingest.post(source, sign("hmac"))).status === 202);
  });
});

test("while the event log is away deliveries are accepted, and their events follow when it is back", async () => {
  await behindProxy("events.url", async (ingest, proxy) => {
    const who = testPerson();
    const source = await ingest.newSource(who, hmac);
    await ingest.eventsOf(who.accountId, 1);
    await proxy.refuse();
    const { ready, live } = await ingest.context.health.report();
    assert.deepEqual([ready.status, live.status], ["up", "up"], "neither leaving nor a restart would help");
    for (const reader of ["consumer accounts", "access states", "configuration overrides"]) {
      assert.ok(live.checks[reader], `${reader} reports its liveness`);
    }
    for (const id of ["d-1", "d-2"]) assert.equal((await ingest.post(source, sign("hmac", { id }))).status, 202);
    await proxy.accept();
    const received = await ingest.eventsOf(who.accountId, 2, "webhook.received");
    assert.deepEqual(
      received.map(({ data }) => (data as { delivery_id: string }).delivery_id),
      ["d-1", "d-2"],
    );
  });
});

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

test("a webhook answered 202 survives an immediate kill -9, and the next process publishes its event", async () => {
  const [database, events, account] = await Promise.all([testDatabase(), testDatabase(), startAccountStandIn()]);
  // Blocks the event log for the first process, so that the relay cannot be faster than the kill.
  const proxy = await createTcpProxy({ port: Number(new URL(events.url).port) });
  await createTopics(events.url);
  const [port, managementPort] = [await freePort(), await freePort()];
  const first = startProcess(main, [], {
    SIGNALBOX_DATABASE_URL: database.url,
    SIGNALBOX_EVENTS_URL: proxy.urlFor(events.url),
    SIGNALBOX_CACHE_URL: "memory:",
    SIGNALBOX_INTERNAL_TOKEN: internalToken,
    SIGNALBOX_ACCOUNT_INTERNAL_URL: account.url,
    SIGNALBOX_SECRETS_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
    SIGNALBOX_HTTP_PORT: String(port),
    SIGNALBOX_MANAGEMENT_SERVER_PORT: String(managementPort),
  });
  const who = testPerson();
  const url = `http://127.0.0.1:${port}`;
  const headers = { ...who.headers, "content-type": "application/json" };
  await first.waitForOutput(/The service is ready/);
  const made = await eventually(async () => {
    const response = await fetch(url + sourcesPath, { method: "POST", headers, body: JSON.stringify(hmac) });
    return response.status === 201 && ((await response.json()) as { id: string; ingest_path: string });
  });
  await proxy.refuse();
  const webhook = sign("hmac", { id: "d-1" });
  const { status } = await fetch(url + made.ingest_path, { method: "POST", ...webhook } as RequestInit);
  await first.kill();
  assert.equal(status, 202);
  await proxy.accept();

  const second = await startIngest({ "database.url": database.url, "events.url": events.url });
  try {
    const { body } = await second.send(who, "GET", `${sourcesPath}/${made.id}/received`);
    assert.deepEqual([body.items.length, body.items[0].delivery_id], [1, "d-1"]);
    const [event] = await second.eventsOf(who.accountId, 1, "webhook.received");
    assert.equal(event?.subject, made.id);
    assert.equal((await second.post(made, webhook)).status, 202);
    assert.equal((await second.send(who, "GET", `${sourcesPath}/${made.id}/received`)).body.items.length, 1);
  } finally {
    await second.close();
    await Promise.all([proxy.close(), account.close(), database.close(), events.close()]);
  }
});
