import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testPerson } from "@signalbox/testing";
import { type Harness, startDelivery } from "./harness.ts";

let delivery: Harness;
before(async () => {
  delivery = await startDelivery();
});
after(() => delivery.close());

const path = "/api/v1/webhooks/event-types";
const schema = { type: "object", required: ["total"], properties: { total: { type: "number", minimum: 0 } } };

test("a type is declared, listed beside ours, changed and deleted, by its account alone", async () => {
  const who = testPerson();
  const create = (body: object) => delivery.send(who, "POST", path, { body });
  const made = await create({ name: "order.created", description: "Placed.", schema, enforcement: "block" });
  assert.equal(made.status, 201, made.text);
  assert.equal(made.headers.get("location"), `${path}/order.created`);
  assert.equal((await create({ name: "order.created" })).status, 409);
  for (const body of [
    { name: "image.own" },
    { name: "order" },
    { name: "Order.created" },
    { name: "a.b", colour: 1 },
  ]) {
    assert.equal((await create(body)).status, 422, JSON.stringify(body));
  }
  for (const wrong of [{ type: "nothing" }, { $ref: "https://elsewhere.example/" }, { x: "y".repeat(70_000) }]) {
    const { status, body } = await create({ name: "bill.sent", schema: wrong });
    assert.deepEqual([status, body.error.details[0].field], [422, "schema"]);
  }
  const { items } = (await delivery.send(who, "GET", `${path}?limit=100`)).body;
  const named = (name: string) => items.find((type: { name: string }) => type.name === name);
  assert.deepEqual([named("order.created").own, named("image.created").own], [true, false]);
  assert.deepEqual(named("order.created").schema, schema);

  const one = `${path}/order.created`;
  const changed = await delivery.send(who, "PATCH", one, { body: { enforcement: "warn" } });
  assert.deepEqual([changed.body.enforcement, changed.body.description], ["warn", "Placed."]);
  const etag = made.headers.get("etag") ?? "";
  assert.equal((await delivery.send(who, "DELETE", one, { headers: { "if-match": etag } })).status, 409);
  assert.equal((await delivery.send(testPerson(), "GET", one)).status, 404);
  assert.equal((await delivery.send(who, "DELETE", one)).status, 204);
  assert.equal((await delivery.send(who, "GET", one)).status, 404);
});

test("a mismatch is refused with its place, accepted with a warning, or ignored", async () => {
  const who = testPerson();
  await delivery.send(who, "POST", path, { body: { name: "order.created", schema, enforcement: "block" } });
  const publish = (body: object) => delivery.send(who, "POST", "/api/v1/webhooks/events", { body });
  const [good, bad] = [
    { type: "order.created", data: { total: 1 } },
    { type: "order.created", data: { total: "1" } },
  ];
  assert.equal((await publish(good)).status, 202);
  const refused = await publish(bad);
  assert.equal(refused.status, 422);
  assert.deepEqual(refused.body.error.details, [{ field: "data", code: "invalid", message: "/total must be number." }]);
  const both = await publish([good, bad]);
  assert.equal(both.body.error.details[0].field, "[1].data");
  const listed = await delivery.send(who, "GET", "/api/v1/webhooks/events");
  assert.equal(listed.body.items.length, 1, "all or none");

  const enforce = (enforcement: string) =>
    delivery.send(who, "PATCH", `${path}/order.created`, { body: { enforcement } });
  await enforce("warn");
  const warned = await publish([good, bad]);
  assert.deepEqual(
    warned.body.items.map(({ warnings }: { warnings: object[] }) => warnings),
    [[], [{ pointer: "/total", message: "must be number" }]],
  );
  await enforce("off");
  assert.deepEqual((await publish(bad)).body.items[0].warnings, []);
  assert.equal((await publish({ type: "order.other", data: {} })).status, 202);
});
