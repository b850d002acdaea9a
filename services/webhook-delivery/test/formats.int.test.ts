import assert from "node:assert/strict";
import { test } from "node:test";
import { endpointSettingsInEvent, eventOf, schemaRegistry } from "@signalbox/contracts";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { endpointsPath } from "./harness.ts";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

shareOneService();

const eventsPath = "/api/v1/webhooks/events";
const newEndpoint = (format: string, more: object = {}) =>
  delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*", "image.*"], settings: { format }, ...more });
const publish = (body: unknown, headers: Record<string, string> = {}) =>
  delivery.send(who, "POST", eventsPath, { body: body as object, headers });
const cloudEvent = (id: string, more: object = {}) => ({
  specversion: "1.0",
  id,
  source: "https://shop.example/orders",
  type: "order.created",
  time: "2026-01-01T09:00:00Z",
  data: { order: id },
  ...more,
});
const structured = { "content-type": "application/cloudevents+json; charset=UTF-8" };
const batched = { "content-type": "application/cloudevents-batch+json" };
const bodyOf = ({ body }: { readonly body: Buffer }) => JSON.parse(body.toString());
const delivered = (id: string) => receiver.waitFor((request) => bodyOf(request).id === id);
/** Verifies with a library of subscribers. */
const verify = (secret: string, { body, headers }: Awaited<ReturnType<typeof delivered>>) =>
  new StandardWebhook(secret).verify(body, headers as Record<string, string>);

test("events published in each mode of CloudEvents arrive as the CloudEvents that they were, signed", async () => {
  const { secret } = await newEndpoint("cloudevents");
  assert.equal((await publish(cloudEvent("one", { tenant: "blue" }), structured)).status, 202);
  const batch = [cloudEvent("two"), cloudEvent("three", { subject: "order-3" })];
  assert.equal((await publish(batch, batched)).body.items.length, 2);
  const headers = {
    "content-type": "application/json",
    "ce-specversion": "1.0",
    "ce-id": "four",
    "ce-source": "https://shop.example/orders",
    "ce-type": "order.created",
    "ce-time": "2026-01-01T09:00:00Z",
    "ce-subject": "caf%C3%A9",
  };
  assert.equal((await publish({ order: "four" }, headers)).status, 202);
  const sent = [cloudEvent("one", { tenant: "blue" }), ...batch, cloudEvent("four", { subject: "café" })];
  for (const event of sent) {
    const request = await delivered(event.id);
    assert.equal(request.headers["content-type"], "application/cloudevents+json");
    verify(secret, request);
    assert.deepEqual(bodyOf(request), {
      ...event,
      time: "2026-01-01T09:00:00.000Z",
      datacontenttype: "application/json",
      accountid: who.accountId,
    });
  }
});

test("a pull endpoint gets its format too", async () => {
  const { id } = await newEndpoint("cloudevents", { type: "pull", url: undefined });
  const thin = await newEndpoint("thin", { type: "pull", url: undefined });
  await publish({ id: "order-1", type: "order.created", data: { order: 1 } });
  const take = async (endpoint: string) => {
    const { body } = await delivery.send(who, "GET", `${endpointsPath}/${endpoint}/messages?wait_seconds=10`);
    return body.items[0];
  };
  const message = await take(id);
  assert.equal(message.headers["content-type"], "application/cloudevents+json");
  const { specversion, data } = JSON.parse(message.body);
  assert.deepEqual([specversion, data], ["1.0", { order: 1 }]);
  const { related_object: related } = JSON.parse((await take(thin.id)).body);
  assert.deepEqual(related, { id: "order-1", type: "webhook_event", url: `${eventsPath}/order-1` });
  assert.equal((await delivery.send(who, "GET", related.url)).status, 200, "and there is the event");
});

test("a thin delivery of an event of the service has no data of it", async () => {
  await newEndpoint("thin");
  const id = await delivery.createImage(who.accountId);
  const { body } = await receiver.waitFor(({ headers }) => headers["x-event-type"] === "image.created");
  const { created_at: _, id: __, ...rest } = JSON.parse(body.toString());
  assert.deepEqual(rest, { type: "image.created", related_object: { id, type: "image", url: `/images/${id}` } });
});

test("a delivery in the standard format fits the published schema of the envelope", async () => {
  await newEndpoint("standard");
  await publish({ id: "order-1", type: "order.created", data: { order: 1 }, subject: "order-1" });
  await delivery.createImage(who.accountId);
  const schema = schemaRegistry.published("http://x").get("/schemas/envelope/v1.json") ?? assert.fail();
  const validate = new Ajv2020({ strict: false, formats: { "date-time": true } }).compile(schema);
  for (const type of ["order.created", "image.created"]) {
    const { body } = await receiver.waitFor(({ headers }) => headers["x-event-type"] === type);
    assert.equal(validate(JSON.parse(body.toString())), true, JSON.stringify(validate.errors));
  }
});

test("`standard` is another name of the envelope; the event of an endpoint shows a later format apart", async () => {
  const { id } = await newEndpoint("standard");
  const read = async () => (await delivery.send(who, "GET", `${endpointsPath}/${id}`)).body.settings.format;
  assert.equal(await read(), "envelope");
  const patch = await delivery.send(who, "PATCH", `${endpointsPath}/${id}`, { body: { settings: { format: "thin" } } });
  assert.deepEqual([patch.status, await read()], [200, "thin"]);
  const events = await delivery.eventsOf(who.accountId, 2);
  const updated = events.find(({ name }) => name === "webhook_endpoint.updated") ?? assert.fail();
  const { format, body_format } = (updated.data as unknown as { settings: Record<string, unknown> }).settings;
  assert.deepEqual([format, body_format], ["envelope", "thin"]);
  const { settings } = eventOf("webhook_endpoint.updated").example;
  assert.deepEqual(endpointSettingsInEvent({ ...settings, format: "original" }).format, "original");
  const refused = await delivery.send(who, "PATCH", `${endpointsPath}/${id}`, {
    body: { settings: { format: "xml" } },
  });
  assert.deepEqual([refused.status, refused.body.error.details[0].field], [422, "settings.format"]);
});

test("a body that does not match its mode is refused with its place, and nothing of it is published", async () => {
  const batch = [cloudEvent("one"), { ...cloudEvent("two"), source: undefined }];
  const { status, body } = await publish(batch, batched);
  assert.deepEqual([status, body.error.details[0].field], [400, "[1].source"]);
  const one = await publish(cloudEvent("one"), batched);
  assert.deepEqual([one.status, one.body.error.details[0].field], [422, ""]);
  const media = await publish("x", { "content-type": "application/cloudevents+xml" });
  assert.equal(media.status, 415);
  assert.match(media.body.error.message, /application\/cloudevents\+json/);
  assert.deepEqual((await delivery.send(who, "GET", eventsPath)).body.items, []);
});

test("a CloudEvent is safe to repeat, in any mode", async () => {
  const first = await publish(cloudEvent("one"), structured);
  const again = await publish([cloudEvent("one", { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7" })], batched);
  assert.deepEqual(
    [first, again].map((answer) => answer.body.items[0].duplicate),
    [false, true],
  );
  const other = await publish(cloudEvent("one", { data: { order: "two" } }), structured);
  assert.equal(other.status, 409, "the same id with other data is a fault of the publisher");
});

test("an Idempotency-Key tells apart the bytes of CloudEvents", async () => {
  const attributes = { "ce-specversion": "1.0", "ce-id": "one", "ce-source": "/shop", "ce-type": "order.created" };
  const headers = { ...attributes, "content-type": "image/png", "idempotency-key": "one" };
  const send = (byte: number) => delivery.send(who, "POST", eventsPath, { headers, body: Buffer.from([byte]) });
  assert.equal((await send(1)).status, 202);
  assert.equal((await send(1)).headers.get("idempotent-replayed"), "true");
  assert.equal((await send(2)).body.error.details[0].code, "key_reused");
});

test("a prefix with a control character, which no event can have, is refused as a subscription", async () => {
  const settings = { url: receiver.url, event_types: ["ord\u0007er*"] };
  const { status, body } = await delivery.send(who, "POST", endpointsPath, { body: settings });
  assert.deepEqual([status, body.error.details[0].field], [422, "event_types[0]"]);
});

test("CloudEvents of two sources with one id are two events", async () => {
  await newEndpoint("cloudevents");
  const sources = ["https://shop.example/orders", "https://elsewhere.example/"];
  const batch = sources.map((source) => cloudEvent("one", { source }));
  const { body } = await publish(batch, batched);
  const ids: string[] = body.items.map(({ id }: { id: string }) => id);
  assert.equal(new Set(ids).size, 2);
  for (const [at, id] of ids.entries()) {
    const request = await receiver.waitFor(({ headers }) => headers["webhook-id"] === id);
    assert.deepEqual([bodyOf(request).id, bodyOf(request).source], ["one", sources[at]]);
    const { body: event } = await delivery.send(who, "GET", `${eventsPath}/${id}`);
    assert.equal(JSON.parse(event.body).cloudevents.source, sources[at]);
  }
});

for (const [type, inHeader] of [
  ["com.github.pull_request.opened.v2.a.b.c", "com.github.pull_request.opened.v2.a.b.c"],
  ["Some/Type", "Some/Type"],
  ['заказ "100%" 😀', "%D0%B7%D0%B0%D0%BA%D0%B0%D0%B7%20%22100%25%22%20%F0%9F%98%80"],
] as const)
  test(`a CloudEvent of the type ${type} reaches those who want it, signed`, async () => {
    const { secret } = await newEndpoint("cloudevents", { event_types: [type] });
    assert.equal((await publish(cloudEvent("one", { type }), structured)).status, 202);
    const request = await delivered("one");
    assert.deepEqual([request.headers["x-event-type"], bodyOf(request).type], [inHeader, type]);
    verify(secret, request);
    const query = `type=${encodeURIComponent(`${type.slice(0, -2)}*`)}`;
    assert.equal((await delivery.send(who, "GET", `${eventsPath}?${query}`)).body.items.length, 1);
  });

for (const [what, mediaType, bytes, expected] of [
  ["a text", "text/plain; charset=utf-8", Buffer.from("Zwölf\u0000"), { data: "Zwölf\u0000" }],
  ["bytes", "image/png", Buffer.from([0, 255]), { data_base64: "AP8=" }],
  ["a list", "application/json", Buffer.from("[1.10]"), { data: [1.1] }],
  ["nothing", undefined, undefined, {}],
] as const)
  test(`a CloudEvent whose data is ${what} arrives as in structured mode when it was sent in binary mode`, async () => {
    await newEndpoint("cloudevents");
    const attributes = { specversion: "1.0", id: "binary", source: "/shop", type: "order.created" };
    const names = Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value]);
    const headers = Object.fromEntries([...names, ["content-type", mediaType ?? "application/json"]]);
    const sent = await delivery.send(who, "POST", eventsPath, { headers, body: bytes ?? "" });
    assert.equal(sent.status, 202, sent.text);
    const event = { ...attributes, id: "structured", ...expected };
    const datacontenttype = mediaType === undefined ? {} : { datacontenttype: mediaType };
    assert.equal((await publish({ ...event, ...datacontenttype }, structured)).status, 202);
    for (const id of ["binary", "structured"]) {
      const { time: _, accountid: __, ...rest } = bodyOf(await delivered(id));
      assert.deepEqual(rest, { ...event, id, ...datacontenttype });
    }
  });
