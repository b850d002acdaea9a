import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { claimDeliveries } from "../src/sending/delivery-queue.ts";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

shareOneService();

const run = async (text: string, values: unknown[] = []) =>
  (await delivery.pool.query<Record<string, unknown>>({ name: "", text }, values)).rows;

/**
 * Deliveries of an endpoint that are all done, and due ones of the same endpoint that the claim has to find among them.
 */
async function fill(accountId: string, endpointId: string, count: number): Promise<void> {
  await run(
    `with made as (
       insert into deliveries (id, created_at, endpoint_id, account_id, event_id, event_type, status, attempts)
       select 'whd_' || n, now(), $2, $1, n::text, 'image.created', 'pending', 0 from generate_series(1, $3::int) as n
       returning id, created_at)
     insert into delivery_queue select $2, created_at, id, created_at from made`,
    [accountId, endpointId, count],
  );
  await run("analyze");
}

test("a claim reads no more rows than it takes, however many are due behind an endpoint", async () => {
  const { id } = await delivery.newEndpoint(who, { url: receiver.url });
  await delivery.send(who, "POST", `/api/v1/webhooks/endpoints/${id}/pause`);
  await fill(who.accountId, id, 20_000);
  const other = testPerson();
  const { id: quick } = await delivery.newEndpoint(other, { url: receiver.url });
  const claim = await claimText();
  const plan = await run(`explain (analyze, format json) ${claim}`, [[id, quick], [16, 16], 1, 1, ["all", "held"]]);
  const rows = JSON.stringify(plan).matchAll(/"(?:Actual Rows|Rows Removed by Filter)":(\d+)/g);
  const most = Math.max(...[...rows].map(([, count]) => Number(count)));
  assert.ok(most <= 64, `a step of the claim reads ${most} rows`);
  await delivery.createImage(other.accountId);
  await eventually(() => receiver.requests.length === 1);
  await eventually(async () =>
    /signalbox_webhook_due_age_seconds\{[^}]*\} 0\n/.test(await delivery.context.metrics.text()),
  );
});

/** The statement of the queue itself, caught on its way to the database. */
async function claimText(): Promise<string> {
  let text = "";
  const spy = {
    query: async (statement: { text: string }) => {
      text = statement.text;
      return { rows: [], rowCount: 0 };
    },
  };
  await claimDeliveries(spy as never, new Map(), { leaseMs: 1, instance: 1 });
  return text;
}

test("an idle service asks for what is due no more than a few times a second", async () => {
  const calls = async () => {
    const rows = await run("select xact_commit::int as count from pg_stat_database where datname = current_database()");
    return Number(rows[0]?.count);
  };
  const callsInASecond = async () => {
    const before = await calls();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return (await calls()) - before;
  };
  // PostgreSQL updates its counters late, so the first seconds may include earlier work.
  await eventually(async () => (await callsInASecond()) < 40, { message: "a second passes with few transactions" });
});
