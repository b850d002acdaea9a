import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "@signalbox/storage";
import { eventually, readStream } from "@signalbox/testing";
import { endpointsPath, type Harness, startDelivery } from "./harness.ts";
import { delivery, other, shareTwoServices, who } from "./one-service.ts";

shareTwoServices();

const newEndpoint = () => delivery.newEndpoint(who, { type: "pull", event_types: ["order.*"] });
const publish = async (through: Harness, ...numbers: number[]) => {
  const body = numbers.map((number) => ({ type: "order.changed", data: { number } }));
  assert.equal((await through.send(who, "POST", "/api/v1/webhooks/events", { body })).status, 202);
};
const open = (at: Harness, id: string, query = "") =>
  readStream(`${at.url}${endpointsPath}/${id}/messages?${query}`, { ...who.headers, accept: "text/event-stream" });
const ack = async (at: Harness, id: string, leaseId: string | undefined) => {
  const answer = await at.send(who, "POST", `${endpointsPath}/${id}/messages/ack`, { body: { lease_ids: [leaseId] } });
  assert.equal(answer.status, 200, answer.text);
};

test("a stream sends as many messages as its credit, and another one for each that ends, in any instance", async () => {
  const { id } = await newEndpoint();
  const stream = await open(delivery, id, "credit=2");
  try {
    assert.deepEqual([stream.status, stream.headers.get("content-type")], [200, "text/event-stream"]);
    await publish(other, 1, 2, 3, 4);
    await eventually(() => stream.events.length === 2);
    const { body } = await delivery.send(who, "GET", `${endpointsPath}/${id}/consumers`);
    assert.deepEqual([body.items[0].leased, body.items[0].lag], [2, 4]);
    await ack(delivery, id, stream.events[0]?.id);
    await eventually(() => stream.events.length === 3);
    await ack(other, id, stream.events[1]?.id);
    await eventually(() => stream.events.length === 4);
    const [first] = stream.events;
    assert.equal(first?.event, "message");
    assert.equal(first?.data.lease_id, first?.id);
    assert.deepEqual(
      stream.events.map(({ data }) => JSON.parse(data.body).data.number),
      [1, 2, 3, 4],
    );
  } finally {
    stream.close();
  }
});

test("a poll in one instance is answered by an event that another one committed", async () => {
  const { id } = await newEndpoint();
  const poll = other.send(who, "GET", `${endpointsPath}/${id}/messages?wait_seconds=30`);
  await publish(delivery, 1);
  assert.equal((await poll).body.items.length, 1);
});

test("a stream without credit leaves the messages to a poll", async () => {
  const { id } = await newEndpoint();
  const stream = await open(delivery, id, "credit=1");
  try {
    await publish(delivery, 1);
    await eventually(() => stream.events.length === 1);
    const poll = delivery.send(who, "GET", `${endpointsPath}/${id}/messages?wait_seconds=30`);
    await publish(delivery, 2);
    assert.equal((await poll).body.items.length, 1);
  } finally {
    stream.close();
  }
});

test("a stream ends when the access of its account changes, and sends nothing after it", async () => {
  const { id } = await newEndpoint();
  const stream = await open(delivery, id);
  await delivery.changeState(who.accountId, "suspended");
  await stream.ended;
  assert.deepEqual(
    stream.events.map(({ event, data }) => [event, data]),
    [["end", { reason: "access_changed" }]],
  );
});

test("a process that leaves ends its streams, and HEAD leases nothing", async () => {
  const leaving = await startDelivery();
  try {
    const { id } = await leaving.newEndpoint(who, { type: "pull", event_types: ["order.*"] });
    const path = `${endpointsPath}/${id}/messages`;
    await publish(leaving, 1);
    assert.equal((await leaving.send(who, "HEAD", path)).status, 200);
    const stream = await open(leaving, id);
    await eventually(() => stream.events.length === 1);
    await leaving.context.close();
    await stream.ended;
    assert.deepEqual(stream.events.at(-1)?.data, { reason: "draining" });
  } finally {
    await leaving.close();
  }
});

test("an endpoint for listening lives with its stream, and is deleted after the last one", async () => {
  const made = await delivery.send(who, "POST", `${endpointsPath}/listen`, { body: { event_types: ["order.*"] } });
  assert.equal(made.status, 201, made.text);
  const { id, secret, type, ends_at: endsAt } = made.body;
  assert.deepEqual([typeof secret, type], ["string", "pull"]);
  assert.ok(Date.parse(endsAt) > Date.now());
  const endWithin = (seconds: number) =>
    delivery.pool.query(
      sql("", "update endpoints set ends_at = least(ends_at, now() + $2 * interval '1 s') where id = $1"),
      [id, seconds],
    );
  await endWithin(20);
  const stream = await open(delivery, id);
  await eventually(async () => {
    const shown = await delivery.send(who, "GET", `${endpointsPath}/${id}`);
    return Date.parse(shown.body.ends_at) > Date.now() + 50_000;
  });
  await publish(delivery, 1);
  await eventually(() => stream.events.length === 1);
  stream.close();
  await eventually(async () => {
    // The service may prolong it once more before it sees that the client is gone.
    await endWithin(1);
    return (await delivery.send(who, "GET", `${endpointsPath}/${id}`)).status === 404;
  });
  const events = await delivery.eventsOf(who.accountId, 2);
  assert.equal(events.at(-1)?.name, "webhook_endpoint.deleted");
});
