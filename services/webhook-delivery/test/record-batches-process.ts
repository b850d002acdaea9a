import { newId } from "@signalbox/core";
import { freshBatch } from "@signalbox/service";
import { openPool, type Queryable, type Statement, sql } from "@signalbox/storage";
import { testContext } from "@signalbox/testing";
import type { LeasedDelivery } from "../src/deliveries/delivery.ts";
import { entryOf, recordResults } from "../src/sending/record-results.ts";

/**
 * Program of `bench -- statistics`: records batches of attempts in turns with and without their figures, on the database
 * of its argument, and prints the milliseconds of each.
 */
const [url = "", count = "0"] = process.argv.slice(2);
const batchSize = 64;
const endpoints = 10;
const types = ["order.created", "order.paid", "order.shipped"];
const limits = { failedShare: 0.95, failingAfterMs: 1e9, disableAfterMs: 1e9 };
const insert = sql(
  "",
  `with given as (select * from unnest($1::text[], $2::text[], $3::timestamptz[]) as given (id, endpoint_id, at)),
   queued as (insert into delivery_queue (endpoint_id, due_at, delivery_id, created_at) select endpoint_id, at, id, at from given)
   insert into deliveries (id, created_at, endpoint_id, account_id, event_id, event_type, status, attempts)
   select id, at, endpoint_id, 'acc_bench', id, 'order.paid', 'pending', 0 from given`,
);

const context = testContext("webhook-delivery", {});
const pool = openPool({ url, max: 2, applicationName: "bench", ...context });
/** The same statement without its part `figures`. */
const withoutFigures: Queryable = {
  query: (statement, values) => pool.query(withoutPart(statement), values),
};

function withoutPart({ name, text }: Statement): Statement {
  const shorter = text.replace(/, figures as \([\s\S]*?\n {3}\)(?=, counts as)/, "");
  if (shorter === text) throw new Error("the statement has no part `figures`");
  // Its value is sent all the same.
  return { name, text: `${shorter} where $26::text is not null` };
}

async function newDeliveries(): Promise<LeasedDelivery[]> {
  const at = new Date();
  const made = Array.from({ length: batchSize }, (_, place) => ({
    id: newId("whd"),
    endpointId: `whe_bench${place % endpoints}`,
    accountId: "acc_bench",
    eventType: types[place % types.length] as string,
    createdAt: at,
    leasedUntil: at,
  }));
  await pool.query(insert, [made.map(({ id }) => id), made.map(({ endpointId }) => endpointId), made.map(() => at)]);
  return made as unknown as LeasedDelivery[];
}

async function record(db: Queryable): Promise<number> {
  const exchange = { requestHeaders: headers, responseHeaders: headers, phases: null };
  const results = (await newDeliveries()).map((delivery) => ({
    delivery,
    attempt: {
      id: newId("wha"),
      deliveryId: delivery.id,
      endpointId: delivery.endpointId,
      accountId: delivery.accountId,
      eventType: delivery.eventType,
      number: 1,
      startedAt: new Date(),
      durationMs: Math.round(20 + 400 * Math.random() ** 4),
      status: 200,
      error: null,
      response: "{}",
      counted: true,
      phase: null,
      decision: "succeeded" as const,
      nextAttemptAt: null,
      exchange,
    },
    status: "succeeded" as const,
    used: 1,
    delayMs: null,
    failed: false,
  }));
  const startedMs = performance.now();
  const { won } = await recordResults(db, results, limits);
  if (won.size !== batchSize) throw new Error(`${won.size} of ${batchSize} attempts were recorded`);
  const tookMs = performance.now() - startedMs;
  // Both build the text of the figures, and only one needs it.
  return db === pool ? tookMs : tookMs - buildMs(results);
}

function buildMs(results: Parameters<typeof recordResults>[1]): number {
  const startedMs = performance.now();
  freshBatch(results.map(entryOf));
  return performance.now() - startedMs;
}

const headers = Object.fromEntries(Array.from({ length: 8 }, (_, place) => [`x-header-${place}`, "value ".repeat(4)]));
const [withThem, without]: [number[], number[]] = [[], []];
for (let turn = 0; turn < Number(count); turn++) {
  withThem.push(await record(pool));
  without.push(await record(withoutFigures));
}
console.log(JSON.stringify({ withThem, without }));
await context.close();
