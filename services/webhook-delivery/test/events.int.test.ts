import assert from "node:assert/strict";
import { test } from "node:test";
import { createReceiver, eventually, readEvents, testEventLog, testPerson } from "@signalbox/testing";
import { Announcements } from "../src/events/announcements.ts";
import { startDelivery } from "./harness.ts";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

shareOneService();

const path = "/api/v1/webhooks/events";
const publish = (body: object) => delivery.send(who, "POST", path, { body });
const order = { id: "order-1", type: "order.created", data: { order: 1 }, subject: "orders/1" };

test("a published event reaches its subscribers, and can be read again byte for byte", async () => {
  await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*"] });
  await delivery.newEndpoint(who, { url: receiver.url, event_types: ["image.*", "invoice.paid"] });
  const { status, body } = await publish(order);
  assert.deepEqual(
    [status, body],
    [202, { items: [{ id: order.id, type: order.type, duplicate: false, warnings: [] }] }],
  );
  const request = await receiver.waitFor(() => true);
  const received = JSON.parse(request.body.toString());
  assert.deepEqual([received.id, received.type, received.data], [order.id, order.type, order.data]);
  assert.deepEqual([received.subject, received.account_id], [order.subject, who.accountId]);
  const read = (await delivery.send(who, "GET", `${path}/${order.id}`)).body;
  assert.equal(read.body, request.body.toString());
  assert.equal((await delivery.send(testPerson(), "GET", `${path}/${order.id}`)).status, 404);
  await eventually(async () => (await delivery.deliveriesOf(who, "&status=succeeded")).length === 1);
  assert.equal(receiver.requests.length, 1);
});

test("the same id is accepted again without a second delivery, with another content it is 409", async () => {
  await delivery.newEndpoint(who, { url: receiver.url, event_types: ["*"] });
  const answers = await Promise.all([publish(order), publish({ ...order }), publish([order])]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [202, 202, 202],
  );
  const duplicates = answers.map(({ body }) => body.items[0].duplicate);
  assert.deepEqual(duplicates.toSorted(), [false, true, true]);
  const other = { ...order, data: { order: 2 } };
  const refused = await publish([{ type: "order.paid", data: {} }, other]);
  assert.deepEqual([refused.status, refused.body.error.details[0].field], [409, "[1].id"]);
  assert.equal((await publish([order, other])).status, 409);
  const ofAnother = await delivery.send(testPerson(), "POST", path, { body: other });
  assert.equal(ofAnother.body.items[0].duplicate, false, "ids are an account's own");
  const ofOrders = () =>
    receiver.requests.filter(({ headers }) => String(headers["x-event-type"]).startsWith("order."));
  await publish({ ...order, id: "order-9" });
  await receiver.waitFor(({ headers }) => headers["webhook-id"] === "order-9");
  assert.equal(ofOrders().length, 2, "nothing of a refused request is delivered");
});

for (const type of [
  "ping",
  "Order.Created",
  "order-created.v1",
  "image.exploded",
  "received.by-hand",
  "a.b.c.d.e.f.g.8",
]) {
  test(`a type may be ${type}`, async () => {
    const other = { url: receiver.url, event_types: ["other*", "Received.*"] };
    await delivery.newEndpoint(who, { url: receiver.url, event_types: [type] });
    await delivery.newEndpoint(who, { url: receiver.url, event_types: [`${type.slice(0, -1)}*`] });
    await delivery.newEndpoint(who, other);
    const declared = await delivery.send(who, "POST", "/api/v1/webhooks/event-types", { body: { name: type } });
    assert.equal(declared.status, 201, declared.text);
    assert.equal((await publish({ ...order, type })).status, 202);
    await eventually(() => receiver.requests.length === 2);
    assert.deepEqual(new Set(receiver.requests.map(({ headers }) => headers["x-event-type"])), new Set([type]));
  });
}

test("a filter reaches names with dots and the members of lists", async () => {
  const filter = { "shop\\.example": { eq: true }, "items.*.sku": { prefix: "b-" } };
  await delivery.newEndpoint(who, { url: receiver.url, event_types: ["*"], settings: { filter } });
  const items = [{ sku: "a-1" }, { sku: "b-2" }];
  for (const [id, data] of Object.entries({
    none: { "shop.example": true, items: [] },
    nested: { shop: { example: true }, items },
    both: { "shop.example": true, items },
  }))
    await publish({ id, type: order.type, data });
  await receiver.waitFor(({ headers }) => headers["webhook-id"] === "both");
  assert.deepEqual(
    receiver.requests.map(({ headers }) => headers["webhook-id"]),
    ["both"],
  );
});

test("a name of the service, of the product, or of another form is refused as a type", async () => {
  for (const type of [
    "image.created",
    "account.created",
    "signalbox.order",
    "signalbox",
    "a..b",
    ".a",
    "a.",
    "-a",
    "a b",
    "é",
    "1.2.3.4.5.6.7.8.9",
    "a".repeat(129),
  ]) {
    const { status, body } = await publish({ ...order, type });
    assert.deepEqual([status, body.error?.details[0].field], [422, "type"], type);
  }
});

for (const [writer, written] of [
  ["our sentences", "2026-01-31T12:00:00Z"],
  ["Python", "2026-01-31 12:00:00.000999+00:00"],
  ["Go", "2026-01-31T14:00:00+02:00"],
  ["lower case", "2026-01-31t12:00:00.0z"],
] as const) {
  test(`a time of an event as ${writer} writes it is delivered in UTC with milliseconds`, async () => {
    const inGraph =
      "mutation($events: [CustomWebhookEventInput!]!) { publishWebhookEvents(input: { events: $events }) { errors { message } } }";
    assert.equal((await publish({ ...order, created_at: written })).status, 202);
    const { data, errors } = await delivery.graphql(who, inGraph, {
      events: [{ type: order.type, data: {}, createdAt: written }],
    });
    assert.deepEqual(data?.publishWebhookEvents, { errors: [] }, JSON.stringify(errors));
    const { body } = await delivery.send(who, "GET", path);
    for (const event of body.items) assert.equal(JSON.parse(event.body).created_at, "2026-01-31T12:00:00.000Z");
    assert.equal(body.items.length, 2);
  });
}

test("an event at a day that does not exist is refused at both edges", async () => {
  const { status, body } = await publish({ ...order, created_at: "2026-02-30T12:00:00Z" });
  assert.deepEqual([status, body.error.details[0].field], [422, "created_at"]);
  const inGraph =
    'mutation { publishWebhookEvents(input: { events: [{ type: "order.created", data: {}, createdAt: "2026-02-30T12:00:00Z" }] }) { errors { message } } }';
  const { errors } = await delivery.graphql(who, inGraph);
  assert.match(errors[0].message, /2026-02-30T12:00:00Z.* is not a DateTime: use RFC 3339/);
});

test("a zone in a query may have the plus sign as people type it", async () => {
  await publish(order);
  for (const [from, count] of [
    ["2020-01-01T00:00:00+02:00", 1],
    ["2020-01-01T00:00:00%2B02:00", 1],
    ["2096-01-01t00:00:00.5z", 0],
  ] as const) {
    const { status, body } = await delivery.send(who, "GET", `${path}?from=${from}`);
    assert.deepEqual([status, body.items?.length], [200, count], from);
  }
});

test("a page of events that ends with an id of its publisher leads to the next one", async () => {
  for (const id of ["order:17:created", "order:18:created", "order:19:created"]) await publish({ ...order, id });
  const seen: string[] = [];
  for (let query = "?limit=1"; query !== ""; ) {
    const { status, body, text } = await delivery.send(who, "GET", `${path}${query}`);
    assert.equal(status, 200, text);
    seen.push(...body.items.map((one: { id: string }) => one.id));
    query = body.has_more ? `?limit=1&cursor=${body.next_cursor}` : "";
  }
  assert.deepEqual(seen.toSorted(), ["order:17:created", "order:18:created", "order:19:created"]);
});

test("an event of a refused request was not published: sent again it is delivered", async () => {
  await delivery.newEndpoint(who, { url: receiver.url, event_types: ["*"] });
  await publish({ ...order, id: "order-20" });
  const unseen = { ...order, id: "order-21" };
  const refused = { ...order, id: "order-20", data: { order: 2 } };
  assert.equal((await publish([unseen, refused])).status, 409);
  const inGraph =
    "mutation($events: [CustomWebhookEventInput!]!) { publishWebhookEvents(input: { events: $events }) { errors { field } } }";
  const { errors } = await delivery.graphql(who, inGraph, { events: [unseen, refused] });
  assert.equal(errors[0].extensions.code, "CONFLICT");
  assert.deepEqual((await publish(unseen)).body.items[0].duplicate, false);
  await receiver.waitFor(({ headers }) => headers["webhook-id"] === unseen.id);
});

test("a hundred events are published at once, even without subscribers, and listed by type and time", async () => {
  const many = Array.from({ length: 100 }, (_, index) => ({ type: `step.n${index % 2}`, data: { index } }));
  const { status, body } = await publish(many);
  assert.deepEqual([status, body.items.length], [202, 100]);
  assert.equal((await publish([...many, ...many.slice(0, 1)])).status, 422);
  const list = async (query: string) => (await delivery.send(who, "GET", `${path}?limit=100${query}`)).body.items;
  assert.equal((await list("")).length, 100);
  assert.equal((await list("&type=step.n1")).length, 50);
  assert.equal((await list("&type=step.*")).length, 100);
  assert.deepEqual(await list("&type=stop.*"), []);
  const [first] = await list("");
  assert.deepEqual(await list(`&to=${first.created_at}`), []);
  assert.equal((await list(`&from=${first.created_at}`)).length, 100);
  const { id } = first;
  assert.equal((await delivery.send(who, "GET", `${path}/${id}`)).body.id, id, "by an id of ours, too");
});

test("single events that meet share a statement: a repeated id is no new event, a different one is refused", async () => {
  await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*"] });
  await publish({ ...order, id: "single" });
  const met = await Promise.all([
    publish({ ...order, id: "single-2" }),
    publish({ ...order, id: "single" }),
    publish({ ...order, id: "single", data: { other: true } }),
    publish({ ...order, id: undefined }),
  ]);
  assert.deepEqual(
    met.map(({ status, body }) => [status, body.items?.[0]?.duplicate]),
    [
      [202, false],
      [202, true],
      [409, undefined],
      [202, false],
    ],
  );
  assert.equal((await publish({ ...order, id: "single-2" })).body.items[0].duplicate, true);
  await eventually(() => receiver.requests.length >= 3);
  assert.equal(receiver.requests.length, 3);
});

test("requests that meet are judged one by one: one that is refused costs the others nothing", async () => {
  await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*"] });
  await publish({ ...order, id: "taken" });
  const [other, key] = [testPerson(), { "idempotency-key": "publish-once" }];
  const keyed = () =>
    delivery.send(who, "POST", path, { body: { ...order, id: undefined, subject: "keyed" }, headers: key });
  const first = await Promise.all([
    keyed(),
    ...Array.from({ length: 12 }, (_, nth) => publish({ ...order, id: `met-${nth}` })),
    publish([
      { ...order, id: "beside" },
      { ...order, id: "taken", data: {} },
    ]),
    delivery.send(other, "POST", path, { body: { ...order, id: "taken", data: {} } }),
  ]);
  assert.deepEqual(
    first.map(({ status }) => status),
    [...Array.from({ length: 13 }, () => 202), 409, 202],
  );
  assert.equal((await publish({ ...order, id: "beside" })).body.items[0].duplicate, false);
  assert.deepEqual((await keyed()).body, first[0]?.body, "the answer was stored with its effect");
  const arrived = () => receiver.requests.filter(({ body }) => body.includes('"subject":"keyed"')).length;
  await eventually(() => receiver.requests.length >= 15);
  assert.equal(arrived(), 1);
});

test("the events of an account are limited, each of a list counts, and other requests are not counted with them", async () => {
  const limited = await startDelivery({ "webhook-delivery.published-events.max": 10 });
  try {
    const send = (body: object) => limited.send(who, "POST", path, { body });
    const list = (length: number) => Array.from({ length }, () => ({ type: "order.created", data: {} }));
    assert.equal((await send(list(9))).status, 202);
    const refused = await send(list(2));
    assert.deepEqual([refused.status, refused.body.error.code], [429, "rate_limited"]);
    assert.match(String(refused.headers.get("ratelimit-policy")), /"published-events";q=10;w=10/);
    assert.equal((await limited.send(testPerson(), "POST", path, { body: list(5) })).status, 202);
    assert.equal((await limited.send(who, "GET", path)).status, 200);
  } finally {
    await limited.close();
  }
});

test("a publication without its scope, or of a reserved type, is refused", async () => {
  assert.equal((await publish({ type: "image.created", data: {} })).status, 422);
  const reader = testPerson({ accountId: who.accountId, scopes: ["webhooks:read", "webhooks:write"] });
  assert.equal((await delivery.send(reader, "POST", path, { body: order })).status, 403);
});

/** Statuses published for two deliveries that fail once each. */
const expected = { failed: [500, 500], all: [500, 200, 500, 200] } as const;

for (const [published, statuses] of Object.entries(expected)) {
  test(`with attempts.published=${published} ${published === "all" ? "every attempt is published" : "failed attempts are published"}`, async () => {
    await using opened = new AsyncDisposableStack();
    const receiver = await createReceiver();
    opened.defer(() => receiver.close());
    const delivery = await startDelivery({ "webhook-delivery.attempts.published": published });
    opened.defer(() => delivery.close());
    const eventLog = await testEventLog(delivery.context.configuration.get("events.url"), delivery.context);
    const { eventsOf } = await readEvents(eventLog, delivery.context, ["signalbox.webhook-attempt.v1"]);

    const who = testPerson();
    const { id } = await delivery.newEndpoint(who, { url: receiver.url, settings: { retry_schedule_seconds: [0, 0] } });
    for (let made = 0; made < 2; made++) {
      receiver.answerNext({ status: 500 });
      await delivery.createImage(who.accountId);
      await eventually(() => receiver.requests.length === 2 * (made + 1));
    }
    const events = await eventsOf(who.accountId, statuses.length, "webhook_delivery.attempted");
    const seen = events.map(
      ({ data }) => data as { endpoint_id: string; status: number; number: number; outcome: string },
    );
    assert.deepEqual(
      seen.map(({ status }) => status),
      statuses,
    );
    assert.deepEqual([seen[0]?.endpoint_id, seen[0]?.number, seen[0]?.outcome], [id, 1, "retry"]);
  });
}

test("an account's published events, its own and those of the service, are announced with the newest and their number", async () => {
  const eventLog = await testEventLog(delivery.context.configuration.get("events.url"), delivery.context);
  const { eventsOf } = await readEvents(eventLog, delivery.context, ["signalbox.webhook-attempt.v1"]);
  const announced = async (count: number) =>
    (await eventsOf(who.accountId, count, "webhook_event.published")).map(({ data }) => data as Announced);
  await publish([order, { ...order, id: "order-2" }]);
  const [own] = await announced(1);
  assert.deepEqual([own?.id, own?.type, own?.count], ["order-2", "order.created", 2]);
  await publish(order);
  await delivery.createImage(who.accountId);
  assert.deepEqual(
    (await announced(2)).map(({ type, count }) => [type, count]),
    [
      ["order.created", 2],
      ["image.created", 1],
    ],
    "a repetition is no event",
  );
});

interface Announced {
  readonly id: string;
  readonly type: string;
  readonly count: number;
}

test("a burst is one announcement, a step has a hundred of them at most, and none is lost while the event log is away", async () => {
  const sent: Announced[] = [];
  let isAway = false;
  const announcements = new Announcements(async (drafts) => {
    if (isAway) throw new Error("away");
    sent.push(...drafts.map(({ data }) => data as Announced));
  });
  const eventAt = (second: number, accountId = who.accountId) => ({
    accountId,
    id: `evt_${second}`,
    type: "order.created",
    createdAt: new Date(second * 1000),
  });
  announcements.note([eventAt(7), eventAt(9), eventAt(8)]);
  isAway = true;
  await assert.rejects(announcements.step());
  isAway = false;
  announcements.note([eventAt(6)]);
  await announcements.step();
  assert.deepEqual(sent.splice(0), [
    { id: "evt_9", type: "order.created", created_at: "1970-01-01T00:00:09.000Z", count: 4 },
  ]);
  announcements.note(Array.from({ length: 101 }, (_, at) => eventAt(at, `acc_${at}`)));
  await announcements.step();
  assert.equal(sent.splice(0).length, 100);
  await announcements.step();
  assert.equal(sent.length, 1);
});
