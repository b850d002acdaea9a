import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createReceiver, eventually, testPerson } from "@signalbox/testing";
import { createDueDeliveries } from "../src/deliveries/due-deliveries.ts";
import { type Harness, startDelivery } from "./harness.ts";

let delivery: Harness;
before(async () => {
  delivery = await startDelivery();
});
after(() => delivery.close());

const run = async (text: string, values: unknown[] = []) =>
  (await delivery.pool.query<Record<string, unknown>>({ name: "", text }, values)).rows;

/** Deliveries of an account that are all done, so that what is due has to be found among them. */
async function fill(accountId: string, endpointId: string, count: number): Promise<void> {
  await run(
    `with made as (
       insert into webhook_events select 'evt_' || n, $1, 'image.created', '{}', null, now() from generate_series(1, $3::int) as n
       returning id)
     insert into deliveries (id, endpoint_id, account_id, event_id, status, attempts, created_at)
     select 'whd_' || id, $2, $1, id, 'succeeded', 1, now() from made`,
    [accountId, endpointId, count],
  );
  await run("analyze");
}

test("what is due is found through an index, however much was delivered before", async () => {
  const who = testPerson();
  const receiver = await createReceiver();
  const { id } = await delivery.newEndpoint(who, { url: receiver.url });
  await fill(who.accountId, id, 20_000);
  const lease = await leaseText();
  const plans = [
    await run(`explain ${lease}`, [new Date(), 16, new Date(), []]),
    await run("explain select id from endpoints where account_id = $1 and created_at <= $2 order by id for key share", [
      who.accountId,
      new Date(),
    ]),
  ];
  const [leasePlan = ""] = plans.map((rows) => rows.map((row) => row["QUERY PLAN"]).join("\n"));
  assert.match(leasePlan, /Index Scan using deliveries_status_next_attempt_at_idx/);
  assert.doesNotMatch(leasePlan, /Seq Scan on (deliveries|webhook_events)/);
  await delivery.createImage(who.accountId);
  await eventually(() => receiver.requests.length === 1);
  await eventually(async () =>
    /signalbox_webhook_due_age_seconds\{[^}]*\} 0\n/.test(await delivery.context.metrics.text()),
  );
  await receiver.close();
});

/** The very statement of the queue, caught on its way to the database. */
async function leaseText(): Promise<string> {
  let text = "";
  const spy = {
    query: async (statement: { text: string }) => {
      text = statement.text;
      return { rows: [], rowCount: 0 };
    },
  };
  await createDueDeliveries(spy as never).lease(1, new Date(), new Date(), []);
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
  // PostgreSQL counts late what was done before, so the first seconds may hold more than their own.
  await eventually(async () => (await callsInASecond()) < 40, { message: "a second passes with few transactions" });
});
