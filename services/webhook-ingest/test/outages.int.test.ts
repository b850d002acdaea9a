import assert from "node:assert/strict";
import { test } from "node:test";
import { hours } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { createTcpProxy, eventually, type TcpProxy, testDatabase, testPerson } from "@signalbox/testing";
import { type Harness, startIngest } from "./harness.ts";
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

test("while the database is away a rejection is only counted", async () => {
  await behindProxy("database.url", async (ingest, proxy) => {
    const source = await ingest.newSource(testPerson(), hmac);
    assert.equal((await ingest.post(source, sign("hmac"))).status, 202, "the source is in memory");
    await proxy.refuse();
    const body = JSON.stringify("x".repeat(ingest.context.configuration.get("limits.maxWebhookBytes")));
    assert.equal((await ingest.post(source, sign("hmac", { body }))).status, 413);
    await eventually(async () =>
      /^signalbox_webhook_rejections_dropped_total\{.*\} 1$/m.test(await ingest.context.metrics.text()),
    );
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

const consumer = "webhook-ingest.accounts";
const remember = sql(
  "",
  `insert into signalbox.inbox (consumer, event_id, received_at)
   select $1, gen_random_uuid(), clock_timestamp() - days * interval '1 day' from unnest($2::int[]) as days`,
);
const remembered = sql(
  "",
  `select extract(day from clock_timestamp() - received_at)::int as days from signalbox.inbox where consumer = $1
   order by days`,
);

test("the inbox deletes rows older than events.inbox.retention, and no younger ones", async (context) => {
  const first = await startIngest();
  await first.pool.query(remember, [consumer, [6, 9, 40]]);
  const another = await startIngest({
    "database.url": first.context.configuration.get("database.url"),
    "events.inbox.retention": hours(24 * 8),
  });
  context.after(async () => {
    await another.close();
    await first.close();
  });
  await eventually(async () => {
    const { rows } = await first.pool.query<{ days: number }>(remembered, [consumer]);
    assert.deepEqual(rows, [{ days: 6 }]);
  });
});
