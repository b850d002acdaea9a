import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "@signalbox/storage";
import { eventually, testPerson } from "@signalbox/testing";
import { endpointsPath } from "./harness.ts";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

const most = 100;
shareOneService({ "webhook-delivery.replays.deliveries-max": `${most}` });

const path = "/api/v1/webhooks/replays";
const long = "2020-01-01T00:00:00Z";
const newEndpoint = () =>
  delivery.newEndpoint(who, {
    url: receiver.url,
    event_types: ["order.*", "bill.*"],
    settings: { retry_schedule_seconds: [0] },
  });
async function publish(count: number, type = "order.created"): Promise<void> {
  const body = Array.from({ length: count }, (_, number) => ({ type, data: { number } }));
  assert.equal((await delivery.send(who, "POST", "/api/v1/webhooks/events", { body })).status, 202);
}
const inStatus = (status: string, count: number, query = "") =>
  eventually(async () => {
    const found = await delivery.deliveriesOf(who, `&status=${status}${query}`);
    return found.length === count && found;
  });
const start = (body: object) => delivery.send(who, "POST", path, { body: { from: long, ...body } });
const ended = (id: string) =>
  eventually(async () => {
    const { body } = await delivery.send(who, "GET", `${path}/${id}`);
    return body.status !== "running" && body;
  });
const idsOf = () => receiver.requests.map(({ headers }) => headers["x-delivery-id"]);

test("deliveries exhausted in an outage are counted, and replayed under their own ids", async () => {
  const { id: endpoint_id } = await newEndpoint();
  await publish(3);
  await inStatus("succeeded", 3);
  receiver.answer({ status: 503 });
  await publish(4);
  await publish(2, "bill.sent");
  const lost = await inStatus("exhausted", 6);
  receiver.answer({ status: 200 });
  receiver.clear();
  const counted = await start({ endpoint_id, status: "exhausted", dry_run: true });
  assert.deepEqual([counted.status, counted.body], [200, { count: 6 }]);
  assert.deepEqual((await start({ endpoint_id, event_types: ["order.*"], dry_run: true })).body, { count: 7 });
  const one = lost[0]?.id ?? "";
  const event = (await delivery.send(who, "GET", `/api/v1/webhooks/deliveries/${one}`)).body.event_id;
  assert.deepEqual((await start({ endpoint_id, event_ids: [event], dry_run: true })).body, { count: 1 });
  const later = new Date(Date.now() + 3_600_000).toISOString();
  for (const window of [{ to: long }, { from: long, to: long }, { from: later }, { from: later, to: later }]) {
    const nothing = await start({ endpoint_id, ...window, dry_run: true });
    assert.deepEqual([nothing.status, nothing.body], [200, { count: 0 }], JSON.stringify(window));
  }
  const reversed = await start({ endpoint_id, from: later, to: long, dry_run: true });
  assert.deepEqual([reversed.status, reversed.body.error.details[0].field], [422, "to"]);

  const started = await start({ endpoint_id, status: "exhausted" });
  assert.deepEqual([started.status, started.body.total], [202, 6]);
  const done = await ended(started.body.id);
  assert.deepEqual([done.status, done.replayed], ["done", 6]);
  await inStatus("succeeded", 9);
  assert.deepEqual(idsOf().toSorted(), lost.map(({ id }) => id).toSorted());
  assert.ok(receiver.requests.every(({ headers }) => headers["x-replay-id"] === started.body.id));
  assert.equal((await delivery.send(testPerson(), "GET", `${path}/${started.body.id}`)).status, 404);
  assert.equal((await delivery.send(who, "GET", path)).body.items[0].id, started.body.id);
});

test("a replay keeps to its rate, one runs at a time, and a cancelled one queues nothing more", async () => {
  const { id: endpoint_id } = await newEndpoint();
  await publish(30);
  await inStatus("succeeded", 30);
  receiver.clear();
  const started = await start({ endpoint_id, rate: 5 });
  assert.equal(started.status, 202);
  await receiver.waitFor(() => true);
  assert.equal((await start({ endpoint_id })).status, 409);
  const cancelled = await delivery.send(who, "POST", `${path}/${started.body.id}/cancel`);
  assert.equal(cancelled.body.status, "cancelled");
  const { replayed } = cancelled.body;
  assert.ok(replayed > 0 && replayed < 30, `${replayed}`);
  await eventually(() => receiver.requests.length === replayed);
  const again = await start({ endpoint_id });
  assert.equal((await ended(again.body.id)).replayed, 30);
  await eventually(() => receiver.requests.length === replayed + 30);
});

test("a replay of a paused endpoint waits, and another account's deliveries cannot be replayed", async () => {
  const { id: endpoint_id } = await newEndpoint();
  await publish(2);
  await inStatus("succeeded", 2);
  await delivery.send(who, "POST", `${endpointsPath}/${endpoint_id}/pause`);
  receiver.clear();
  const started = await start({ endpoint_id });
  await ended(started.body.id);
  await inStatus("held", 2);
  assert.equal(receiver.requests.length, 0);
  await delivery.send(who, "POST", `${endpointsPath}/${endpoint_id}/resume`);
  await inStatus("succeeded", 2);
  const foreign = await delivery.send(testPerson(), "POST", path, { body: { from: long, endpoint_id } });
  assert.equal(foreign.status, 404);
});

/** Fails every attempt so far, so that the deliveries wait an hour for the next one. */
async function outage(count: number, type = "order.created", event_types = ["order.*", "bill.*"]): Promise<string> {
  receiver.answer({ status: 503 });
  const settings = { retry_schedule_seconds: [0, 3_600] };
  const { id } = await delivery.newEndpoint(who, { url: receiver.url, event_types, settings });
  await publish(count, type);
  await eventually(async () => {
    const found = await delivery.deliveriesOf(who, `&endpoint_id=${id}`);
    return found.filter(({ attempts }) => attempts === 1).length === count;
  });
  receiver.answer({ status: 200 });
  receiver.clear();
  return id;
}
const retryAll = (body: object) => delivery.send(who, "POST", "/api/v1/webhooks/deliveries/retry", { body });

test("a replay started while all deliveries wait sends them now", async () => {
  const endpoint_id = await outage(5);
  assert.deepEqual((await start({ endpoint_id, dry_run: true })).body, { count: 5 });
  const started = await start({ endpoint_id });
  assert.deepEqual([started.status, started.body.total], [202, 5]);
  assert.equal((await ended(started.body.id)).replayed, 5);
  await inStatus("succeeded", 5);
  assert.equal(receiver.requests.length, 5);
  assert.ok(receiver.requests.every(({ headers }) => headers["x-replay-id"] === started.body.id));
});

test("a retry by filter sends what has not arrived", async () => {
  const endpoint_id = await outage(4);
  await publish(2, "bill.sent");
  await inStatus("succeeded", 2);
  receiver.clear();
  assert.deepEqual((await retryAll({ endpoint_id, dry_run: true })).body, { count: 4 });
  assert.deepEqual((await retryAll({ endpoint_id, status: "exhausted", dry_run: true })).body, { count: 0 });
  assert.deepEqual((await retryAll({ endpoint_id, event_types: ["bill.*"], dry_run: true })).body, { count: 0 });
  assert.deepEqual((await retryAll({ endpoint_id, to: long, dry_run: true })).body, { count: 0 });
  const started = await retryAll({ endpoint_id, status: "waiting" });
  assert.deepEqual([started.status, started.body.total, started.body.statuses], [202, 4, ["waiting"]]);
  await inStatus("succeeded", 6);
  assert.equal((await ended(started.body.id)).replayed, 4);
  assert.equal(receiver.requests.length, 4);
  assert.equal((await retryAll({ endpoint_id: "whe_none" })).status, 404);
  assert.equal((await retryAll({ endpoint_id, status: "succeeded" })).status, 422);
});

test("a retry by filter includes exhausted deliveries", async () => {
  const { id: endpoint_id } = await newEndpoint();
  receiver.answer({ status: 503 });
  await publish(3);
  await inStatus("exhausted", 3);
  receiver.answer({ status: 200 });
  const started = await retryAll({ endpoint_id });
  assert.deepEqual([started.status, started.body.total], [202, 3]);
  await inStatus("succeeded", 3);
});

test("a retry by filter leaves the rest waiting once it is cancelled", async () => {
  const endpoint_id = await outage(30);
  const started = await retryAll({ endpoint_id, rate: 5 });
  await receiver.waitFor(() => true);
  const { body } = await delivery.send(who, "POST", `${path}/${started.body.id}/cancel`);
  assert.equal(body.status, "cancelled");
  assert.ok(body.replayed > 0 && body.replayed < 30, `${body.replayed}`);
  await inStatus("succeeded", body.replayed);
  await inStatus("pending", 30 - body.replayed);
});

/** Two endpoints with an event type each, whose deliveries wait. */
const outages = async (...counts: readonly [number, number]) => [
  await outage(counts[0], "order.created", ["order.*"]),
  await outage(counts[1], "bill.sent", ["bill.*"]),
];

test("a retry without an endpoint sends what none of the account's endpoints got", async () => {
  await outages(2, 3);
  assert.deepEqual((await retryAll({ dry_run: true })).body, { count: 5, left_out: 0 });
  const started = await retryAll({});
  assert.deepEqual([started.status, started.body.total, started.body.endpoint_id], [202, 5, null]);
  assert.equal((await ended(started.body.id)).replayed, 5);
  await inStatus("succeeded", 5);
  assert.ok(receiver.requests.every(({ headers }) => headers["x-replay-id"] === started.body.id));
});

test("a retry without an endpoint leaves out those that are not enabled", async () => {
  const [paused] = await outages(3, 1);
  await delivery.send(who, "POST", `${endpointsPath}/${paused}/pause`);
  assert.deepEqual((await retryAll({ dry_run: true })).body, { count: 1, left_out: 3 });
  const done = await ended((await retryAll({})).body.id);
  assert.deepEqual([done.replayed, done.total, done.left_out], [1, 1, 3]);
});

test("deliveries of an endpoint that is deleted during a retry of all count as left out", async () => {
  const [deleted] = await outages(9, 3);
  const { id } = (await retryAll({ rate: 3 })).body;
  await receiver.waitFor(() => true);
  await delivery.send(who, "DELETE", `${endpointsPath}/${deleted}`);
  const done = await ended(id);
  assert.equal(done.replayed + done.left_out, 12);
  assert.ok(done.left_out > 0);
});

test("endpoints take turns in a retry of all", async () => {
  const endpoints = await outages(12, 12);
  const { id } = (await retryAll({ rate: 4 })).body;
  await eventually(async () => (await delivery.send(who, "GET", `${path}/${id}`)).body.replayed >= 8);
  await delivery.send(who, "POST", `${path}/${id}/cancel`);
  for (const one of endpoints) {
    await eventually(
      async () => (await delivery.deliveriesOf(who, `&endpoint_id=${one}&status=succeeded`)).length >= 4,
    );
  }
});

test("a retry of all runs once for an account", async () => {
  await outage(5);
  const { id } = (await retryAll({ rate: 1 })).body;
  assert.equal((await retryAll({})).status, 409);
  const other = await delivery.send(testPerson(), "POST", "/api/v1/webhooks/deliveries/retry", { body: {} });
  assert.equal(other.status, 202);
  await delivery.send(who, "POST", `${path}/${id}/cancel`);
});

test("a retry by filter sends ordered deliveries in their order", async () => {
  receiver.answer({ status: 503 });
  const settings = { retry_schedule_seconds: [0, 3_600], ordered: true };
  const { id: endpoint_id } = await delivery.newEndpoint(who, {
    url: receiver.url,
    event_types: ["order.*"],
    settings,
  });
  const body = [1, 2, 3].map((number) => ({ type: "order.created", subject: "one", data: { number } }));
  assert.equal((await delivery.send(who, "POST", "/api/v1/webhooks/events", { body })).status, 202);
  await eventually(async () => (await delivery.deliveriesOf(who)).some(({ attempts }) => attempts === 1));
  receiver.answer({ status: 200 });
  receiver.clear();
  assert.equal((await retryAll({ endpoint_id })).body.total, 3);
  await inStatus("succeeded", 3);
  assert.deepEqual(
    receiver.requests.map(({ headers }) => headers["x-sequence"]),
    ["1", "2", "3"],
  );
});

const cancel = (id: string) => delivery.send(who, "DELETE", `/api/v1/webhooks/deliveries/${id}`);

test("a cancelled delivery that waited is not attempted again", async () => {
  const endpoint_id = await outage(2);
  const [one, other] = await delivery.deliveriesOf(who);
  const cancelled = await cancel(one?.id ?? "");
  assert.deepEqual([cancelled.status, cancelled.body.status, cancelled.body.next_attempt_at], [200, "cancelled", null]);
  assert.equal((await cancel(one?.id ?? "")).status, 200);
  assert.equal((await retryAll({ endpoint_id })).body.total, 1);
  const [sent] = await inStatus("succeeded", 1);
  assert.equal(sent?.id, other?.id);
  const refused = await cancel(sent?.id ?? "");
  assert.deepEqual([refused.status, refused.body.error.code], [409, "conflict"]);
  assert.deepEqual(await delivery.deliveriesOf(who, "&status=cancelled").then((found) => found.map(({ id }) => id)), [
    one?.id,
  ]);
});

test("a retry by its id sends a cancelled delivery after all", async () => {
  await outage(1);
  const [one] = await delivery.deliveriesOf(who);
  await cancel(one?.id ?? "");
  const retried = await delivery.send(who, "POST", `/api/v1/webhooks/deliveries/${one?.id}/retry`);
  assert.equal(retried.status, 202);
  await inStatus("succeeded", 1);
});

test("a held delivery is cancelled by its account alone", async () => {
  const { id } = await newEndpoint();
  await delivery.send(who, "POST", `${endpointsPath}/${id}/pause`);
  await publish(1);
  const [held] = await inStatus("held", 1);
  const foreign = await delivery.send(testPerson(), "DELETE", `/api/v1/webhooks/deliveries/${held?.id}`);
  assert.equal(foreign.status, 404);
  assert.equal((await cancel(held?.id ?? "")).body.status, "cancelled");
  await delivery.send(who, "POST", `${endpointsPath}/${id}/resume`);
  assert.deepEqual(await delivery.deliveriesOf(who, "&status=held"), []);
});

test("the next delivery of a key goes out under its own sequence once the one before it is cancelled", async () => {
  receiver.answer({ status: 503 });
  const settings = { retry_schedule_seconds: [0, 3_600], ordered: true };
  await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*"], settings });
  const body = [1, 2].map((number) => ({ type: "order.created", subject: "one", data: { number } }));
  assert.equal((await delivery.send(who, "POST", "/api/v1/webhooks/events", { body })).status, 202);
  const first = await eventually(
    async () => (await delivery.deliveriesOf(who)).find(({ attempts }) => attempts === 1) ?? false,
  );
  receiver.answer({ status: 200 });
  assert.equal((await cancel(first.id)).status, 200);
  const [sent] = await inStatus("succeeded", 1);
  assert.notEqual(sent?.id, first.id);
  assert.equal(receiver.requests.at(-1)?.headers["x-sequence"], "2");
});

test("a replay takes as many deliveries as the property allows, and is refused for one more", async () => {
  const { id: endpoint_id } = await newEndpoint();
  await insertDeliveries(endpoint_id, most + 1);
  const refused = await start({ endpoint_id });
  assert.deepEqual([refused.status, refused.body.error.code], [422, "validation_error"]);
  assert.deepEqual(refused.body.error.details[0].field, "from");
  assert.deepEqual((await start({ endpoint_id, dry_run: true })).body, { count: most });
  // Deliveries that do not match may be more.
  const narrower = { endpoint_id, event_types: ["order.created"] };
  assert.deepEqual((await start({ ...narrower, dry_run: true })).body, { count: most });
  await delivery.send(who, "POST", `${endpointsPath}/${endpoint_id}/pause`);
  const started = await start(narrower);
  assert.deepEqual([started.status, started.body.total], [202, most]);
  assert.equal((await delivery.send(who, "POST", `${path}/${started.body.id}/cancel`)).body.status, "cancelled");
});

/** Ended deliveries, the last of another type than the others. */
async function insertDeliveries(endpointId: string, count: number): Promise<void> {
  const statement = sql(
    "",
    `insert into deliveries (id, created_at, endpoint_id, account_id, event_id, event_type, status, attempts)
     select 'whd_many' || n, statement_timestamp() - interval '1 s', $1, $2, 'many-' || n,
       case when n = $3::int then 'bill.sent' else 'order.created' end, 'exhausted', 1
     from generate_series(1, $3::int) as n`,
  );
  await delivery.pool.query(statement, [endpointId, who.accountId, count]);
}

test("deliveries are found by type, event and time", async () => {
  const { id } = await newEndpoint();
  receiver.answer(({ headers }) => ({ status: headers["x-event-type"] === "bill.sent" ? 500 : 200 }));
  await publish(2);
  await publish(1, "bill.sent");
  const [failed] = await inStatus("exhausted", 1);
  await inStatus("succeeded", 2);
  const event = (await delivery.send(who, "GET", `/api/v1/webhooks/deliveries/${failed?.id}`)).body.event_id;
  const count = async (query: string) =>
    (await delivery.send(who, "GET", `/api/v1/webhooks/deliveries?${query}`)).body.items.length;
  const later = new Date(Date.now() + 3_600_000).toISOString();
  for (const [query, expected] of [
    [`type=order.*&endpoint_id=${id}`, 2],
    ["type=order.created", 2],
    ["type=bill.*&status=exhausted", 1],
    ["type=order", 0],
    [`event_id=${event}`, 1],
    [`from=${later}`, 0],
    [`from=${long}&to=${later}`, 3],
  ] as const) {
    assert.equal(await count(query), expected, query);
  }
});
