import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { sql } from "@signalbox/storage";
import {
  createReceiver,
  createTcpProxy,
  eventually,
  freePort,
  internalToken,
  type Receiver,
  startProcess,
  type TestDatabase,
  type TestPerson,
  type TestProcess,
  testDatabase,
  testPerson,
} from "@signalbox/testing";
import { endpointsPath, type Harness, sayImageCreated, startDelivery } from "./harness.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
let databases: TestDatabase[];
let receiver: Receiver;
let who: TestPerson;
let made: Harness | null;
beforeEach(async () => {
  databases = await Promise.all([testDatabase(), testDatabase()]);
  receiver = await createReceiver();
  who = testPerson();
  made = null;
});
afterEach(async () => {
  await made?.close();
  await receiver.close();
  await Promise.all(databases.map((database) => database.close()));
});

const urls = () => ({ "database.url": databases[0]?.url ?? "", "events.url": databases[1]?.url ?? "" });
/** Registers an endpoint and leaves an event on the log that no instance has read yet. */
async function prepare(): Promise<void> {
  const first = await startDelivery(urls());
  await first.newEndpoint(who, { url: receiver.url, settings: { retry_schedule_seconds: [0, 1, 1] } });
  await first.close();
  await sayImageCreated(urls()["events.url"], who.accountId);
}

async function startInstance(more: Record<string, string> = {}): Promise<TestProcess> {
  const process = startProcess(main, [], {
    SIGNALBOX_DATABASE_URL: urls()["database.url"],
    SIGNALBOX_EVENTS_URL: urls()["events.url"],
    SIGNALBOX_CACHE_URL: "memory:",
    SIGNALBOX_INTERNAL_TOKEN: internalToken,
    SIGNALBOX_ACCOUNT_INTERNAL_URL: "http://127.0.0.1:9",
    SIGNALBOX_SECRETS_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
    SIGNALBOX_HTTP_PORT: "0",
    SIGNALBOX_MANAGEMENT_SERVER_PORT: String(await freePort()),
    SIGNALBOX_WEBHOOK_DELIVERY_OUTBOUND_ALLOW: "127.0.0.1:*",
    ...more,
  });
  await process.waitForOutput(/The service is ready/);
  return process;
}

test("another process takes over the delivery of a killed one long before its lease expires", async () => {
  await prepare();
  receiver.answer({ instead: "hang" });
  const process = await startInstance({ SIGNALBOX_WEBHOOK_DELIVERY_ATTEMPTS_LEASE: "600000" });
  const first = await receiver.waitFor(() => true);
  await process.kill();
  receiver.answer({ status: 200 });
  made = await startDelivery(urls());
  const delivered = await eventually(async () => (await made?.deliveriesOf(who, "&status=succeeded"))?.[0] ?? null);
  assert.equal(delivered.attempts, 1, "the unrecorded attempt does not count");
  assert.equal(receiver.requests.length, 2);
  const second = receiver.requests[1];
  assert.equal(second?.headers["x-delivery-id"], first.headers["x-delivery-id"]);
  assert.deepEqual(second?.body, first.body);
});

test("another process takes over deliveries leased to a stopping one long before their leases expire", async () => {
  const first = await startDelivery(urls());
  const endpoint = await first.newEndpoint(who, { url: receiver.url });
  await first.send(who, "POST", `${endpointsPath}/${endpoint.id}/pause`);
  await sayImageCreated(urls()["events.url"], who.accountId);
  const [former] = (await first.pool.query<{ id: number }>(sql("", "select id from delivery_instances"), [])).rows;
  // Like a batch whose transaction commits after the queue was already given up.
  const lease = sql("", "update delivery_queue set leased_by = $1, due_at = now() + interval '1 hour'");
  await eventually(async () => (await first.pool.query(lease, [former?.id])).rowCount === 1);
  await first.close();

  made = await startDelivery(urls());
  await made.send(who, "POST", `${endpointsPath}/${endpoint.id}/resume`);
  await receiver.waitFor(() => true);
});

test("a result is recorded when the database is back, and the delivery is not repeated", async () => {
  const proxy = await createTcpProxy({ port: Number(new URL(urls()["database.url"]).port) });
  await prepare();
  const gate = Promise.withResolvers<void>();
  receiver.answer(async () => {
    await gate.promise;
    return { status: 200 };
  });
  made = await startDelivery({ ...urls(), "database.url": proxy.urlFor(urls()["database.url"]) });
  await receiver.waitFor(() => true);
  await proxy.refuse();
  gate.resolve();
  const failures = () =>
    made?.context.logged.some(({ msg }) => /database/i.test(String(msg)) && /away|not|fail/i.test(String(msg)));
  await eventually(() => failures() === true);
  await proxy.accept();
  const delivered = await eventually(async () => (await made?.deliveriesOf(who, "&status=succeeded"))?.[0] ?? null);
  assert.deepEqual([delivered.attempts, receiver.requests.length], [1, 1]);
  await made.close();
  made = null;
  await proxy.close();
});

test("a process that is asked to stop finishes the attempts in hand and records them", async () => {
  await prepare();
  receiver.answer({ status: 200, delayMs: 2_000 });
  const process = await startInstance();
  await receiver.waitFor(() => true);
  process.signal("SIGTERM");
  assert.deepEqual(await process.exited, { code: 0, signal: null });
  made = await startDelivery(urls());
  const [only] = await made.deliveriesOf(who);
  assert.deepEqual([only?.status, only?.attempts, receiver.requests.length], ["succeeded", 1, 1]);
});
