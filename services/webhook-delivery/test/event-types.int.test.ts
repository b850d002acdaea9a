import assert from "node:assert/strict";
import { test } from "node:test";
import { type EventData, webhookEventTypes } from "@signalbox/contracts";
import { eventually, readEvents, testEventLog, testPerson } from "@signalbox/testing";
import { Ajv2020 } from "ajv/dist/2020.js";
import { delivery, shareOneService } from "./one-service.ts";

shareOneService();

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
    { name: "image.created" },
    { name: "webhook_endpoint.test" },
    { name: "signalbox.order" },
    { name: "order..created" },
    { name: "order created" },
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

const publishPath = "/api/v1/webhooks/events";
const slowSchema = { properties: { text: { pattern: "^(a+)+$" } } };
const slowEvents = Array.from({ length: 100 }, () => ({
  type: "order.slow",
  data: { text: `${"a".repeat(40)}!` },
}));
const notChecked = { pointer: "", message: "The data was not checked: the schema took too long." };

/** Sends again while the account has no time left, as it is told to. */
const sendInTime: typeof delivery.send = (...request) =>
  eventually(async () => {
    const answer = await delivery.send(...request);
    return answer.status === 429 ? null : answer;
  });

test("a schema that runs out of time only warns from then on, and says so in REST, graph, event and audit", async () => {
  const who = testPerson();
  const body = { name: "order.slow", schema: slowSchema, enforcement: "block" };
  const made = await delivery.send(who, "POST", path, { body });
  assert.equal(made.body.enforcement_reason, null);
  const published = await delivery.send(who, "POST", publishPath, { body: slowEvents });
  assert.equal(published.status, 202, published.text);
  for (const { warnings } of published.body.items) assert.deepEqual(warnings, [notChecked]);

  const { body: shown, headers } = await delivery.send(who, "GET", `${path}/order.slow`);
  assert.deepEqual([shown.enforcement, shown.enforcement_reason], ["warn", "check-timeout"]);
  assert.notEqual(headers.get("etag"), made.headers.get("etag"));
  const query = `query($of: [_Any!]!) { _entities(representations: $of) {
    ... on Account { webhookEventTypes(first: 100) { edges { node { name enforcement enforcementReason } } } } } }`;
  const { data } = await delivery.graphql(who, query, { of: [{ __typename: "Account", id: who.accountId }] });
  const inGraph = { name: "order.slow", enforcement: "warn", enforcementReason: "check-timeout" };
  const nodes = data._entities[0].webhookEventTypes.edges.map(({ node }: { node: typeof inGraph }) => node);
  assert.deepEqual(
    nodes.filter(({ name }: typeof inGraph) => name === inGraph.name),
    [inGraph],
  );
  const [event] = await delivery.eventsOf(who.accountId, 1);
  assert.deepEqual(event?.data, {
    name: "order.slow",
    enforcement: "warn",
    enforcement_reason: "check-timeout",
    changed: ["enforcement", "enforcement_reason"],
  });
  const { context } = delivery;
  const eventLog = await testEventLog(context.configuration.get("events.url"), context);
  const audit = await readEvents(eventLog, context, ["signalbox.audit.v1"]);
  const entries = (await audit.eventsOf(who.accountId, 2)).map((entry) => entry.data as EventData<"audit.recorded">);
  const { action, reason, actor, subject } = entries[1] ?? assert.fail();
  assert.deepEqual([action, reason, actor.kind], ["webhook_event_type.downgrade", "check-timeout", "system"]);
  assert.equal(subject, event?.subject);

  const again = await delivery.send(who, "POST", publishPath, { body: slowEvents[0] });
  assert.deepEqual(again.body.items[0].warnings, [notChecked]);
  const mended = { schema: { properties: { text: { pattern: "^a+$" } } }, enforcement: "block" };
  const changed = await sendInTime(who, "PATCH", `${path}/order.slow`, { body: mended });
  assert.equal(changed.body.enforcement_reason, null);
  assert.equal((await sendInTime(who, "POST", publishPath, { body: slowEvents[0] })).status, 422);
});

test("a slow publication of one account leaves the process and another account free", async () => {
  const [who, other] = [testPerson(), testPerson()];
  for (const person of [who, other]) {
    const body = { name: "order.slow", schema: slowSchema, enforcement: "block" };
    await delivery.send(person, "POST", path, { body });
  }
  const order: string[] = [];
  const slow = delivery.send(who, "POST", publishPath, { body: slowEvents }).finally(() => order.push("slow"));
  const quick = { type: "order.slow", data: { text: "aaa" } };
  const free = await delivery.send(other, "POST", publishPath, { body: quick }).finally(() => order.push("free"));
  await slow;
  assert.equal(free.status, 202);
  assert.deepEqual(free.body.items[0].warnings, []);
  assert.deepEqual(order, ["free", "slow"]);
});

test("a request whose types run out of time together is to be sent again, without the slowest", async () => {
  const who = testPerson();
  for (const [name, declared] of Object.entries({ "order.slow": slowSchema, "order.created": schema })) {
    await delivery.send(who, "POST", path, { body: { name, schema: declared, enforcement: "block" } });
  }
  const body = [{ type: "order.created", data: { total: 1 } }, slowEvents[0]];
  const refused = await delivery.send(who, "POST", publishPath, { body });
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "1"]);
  const sent = await sendInTime(who, "POST", publishPath, { body });
  assert.equal(sent.status, 202, sent.text);
  assert.deepEqual(
    sent.body.items.map(({ warnings }: { warnings: object[] }) => warnings),
    [[], [notChecked]],
  );
});

test("every type of the service has the schema and the example of its data, at both edges", async () => {
  const who = testPerson();
  const { items } = (await delivery.send(who, "GET", `${path}?limit=100`)).body;
  const listed: BuiltIn[] = items.filter(({ own }: { own: boolean }) => !own);
  const names = webhookEventTypes.filter(({ audience }) => audience === "account").map(({ name }) => name);
  assert.deepEqual(listed.map(({ name }) => name).sort(), names.sort());
  const one: BuiltIn = (await delivery.send(who, "GET", `${path}/image.created`)).body;
  assert.deepEqual(
    listed.find(({ name }) => name === "image.created"),
    one,
  );

  const query = `query($of: [_Any!]!) { _entities(representations: $of) {
    ... on Account { webhookEventTypes(first: 100) { edges { node { name schema schemaUrl example } } } } } }`;
  const { data } = await delivery.graphql(who, query, { of: [{ __typename: "Account", id: who.accountId }] });
  const nodes: { node: { name: string } }[] = data._entities[0].webhookEventTypes.edges;
  const { schema, schema_url: schemaUrl, example } = one;
  assert.deepEqual(nodes.find(({ node }) => node.name === one.name)?.node, {
    name: one.name,
    schema,
    schemaUrl,
    example,
  });
  const ajv = new Ajv2020({ strict: false, formats: { "date-time": true } });
  for (const { name, schema, schema_url, example } of listed) {
    assert.equal(ajv.validate(schema, example), true, `${name}: ${ajv.errorsText()}`);
    assert.equal(ajv.validate(schema, { ...example, [(schema.required as string[])[0] as string]: undefined }), false);
    assert.match(schema_url, new RegExp(`^http://[^/]+/schemas/${name}/v1\\.json$`));
    assert.equal(schema.$id, schema_url);
  }
});

interface BuiltIn {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly schema_url: string;
  readonly example: Readonly<Record<string, unknown>>;
}
