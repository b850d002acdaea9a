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

test("deliveries are found by type, event and time, attempts by time and result", async () => {
  const { id } = await newEndpoint();
  receiver.answer(({ headers }) => ({ status: headers["x-event-type"] === "bill.sent" ? 500 : 200 }));
  await publish(2);
  await publish(1, "bill.sent");
  const [failed] = await inStatus("exhausted", 1);
  await inStatus("succeeded", 2);
  const event = (await delivery.send(who, "GET", `/api/v1/webhooks/deliveries/${failed?.id}`)).body.event_id;
  const count = async (what: string, query: string) =>
    (await delivery.send(who, "GET", `/api/v1/webhooks/${what}?${query}`)).body.items.length;
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
    assert.equal(await count("deliveries", query), expected, query);
  }
  receiver.answer({ instead: "reset" });
  await publish(1, "bill.sent");
  await inStatus("exhausted", 2);
  // One delivery got a 500, the other no answer.
  assert.deepEqual([await count("attempts", "result=failed"), await count("attempts", "result=succeeded")], [2, 2]);
  assert.equal(await count("attempts", `from=${later}`), 0);
});
