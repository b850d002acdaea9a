import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogue, eventType } from "@signalbox/contracts";
import { bodyIn } from "./body-format.ts";

const baseUrl = "https://api.example.com";
const accountId = "acc_5Yb0cPq7TnV2sKxW9mRdLh";

/** A delivery to an endpoint of the account, as the store has it. */
const deliveryOf = (type: string, data: unknown, more: object = {}, dataText = JSON.stringify(data)) => {
  const before = {
    id: "evt_1",
    type,
    created_at: "2026-01-01T09:00:00.000Z",
    api_version: "v1",
    account_id: accountId,
  };
  const text = JSON.stringify({ ...before, ...more });
  return { accountId, eventType: type, body: Buffer.from(`${text.slice(0, -1)},"data":${dataText}}`) };
};
const parsed = (body: Buffer) => JSON.parse(body.toString());
const thin = (type: string, data: unknown, more: object = {}) =>
  parsed(bodyIn("thin", deliveryOf(type, data, more), baseUrl).body).related_object;
const cloudEvent = (type: string, data: unknown, more: object = {}) =>
  parsed(bodyIn("cloudevents", deliveryOf(type, data, more), baseUrl).body);

test("the envelope is the stored bytes themselves, and an original of anything but a partner's webhook is too", () => {
  const delivery = deliveryOf("image.created", { id: "img_1" });
  for (const format of ["envelope", "original"] as const) {
    const { body, headers } = bodyIn(format, delivery, baseUrl);
    assert.equal(body, delivery.body, "nothing is copied");
    assert.deepEqual(headers, {});
  }
});

test("a CloudEvent of the service has the id, source, type, subject and schema of its record in Kafka", () => {
  const { headers } = bodyIn("cloudevents", deliveryOf("image.created", { id: "img_1" }), baseUrl);
  assert.deepEqual(headers, { "content-type": "application/cloudevents+json" });
  assert.deepEqual(cloudEvent("image.created", { id: "img_1" }), {
    specversion: "1.0",
    id: "evt_1",
    source: "/signalbox/images",
    type: "image.created.v1",
    time: "2026-01-01T09:00:00.000Z",
    subject: "img_1",
    datacontenttype: "application/json",
    dataschema: `${baseUrl}/schemas/image.created/v1.json`,
    accountid: accountId,
    data: { id: "img_1" },
  });
  assert.equal(cloudEvent("webhook.received", { source_id: "src_1", received_id: "rcv_1" }).subject, "src_1");
  for (const { name, version, example, audience } of catalogue.filter(({ audience: to }) => to === "account")) {
    const { type, subject } = cloudEvent(name, example);
    assert.deepEqual([type, typeof subject], [eventType({ name, version }), "string"], `${name} of ${audience}`);
  }
});

test("a CloudEvent of an account has the attributes that it was published with, and none of them names its account", () => {
  const cloudevents = {
    source: "https://shop.example/orders",
    dataschema: "https://shop.example/order.json",
    tenant: 7,
  };
  const event = cloudEvent("order.created", { total: 1 }, { subject: "order-17", cloudevents });
  assert.deepEqual(event, {
    specversion: "1.0",
    id: "evt_1",
    source: cloudevents.source,
    type: "order.created",
    time: "2026-01-01T09:00:00.000Z",
    subject: "order-17",
    datacontenttype: "application/json",
    dataschema: cloudevents.dataschema,
    tenant: 7,
    accountid: accountId,
    data: { total: 1 },
  });
  assert.equal(cloudEvent("order.created", {}).source, "/signalbox/webhook-delivery");
  assert.equal(cloudEvent("order.created", {}, { cloudevents: { accountid: "acc_other" } }).accountid, accountId);
});

for (const [what, cloudevents, expected] of [
  ["an event without data", { id: "1", source: "/a" }, {}],
  [
    "bytes",
    { id: "1", source: "/a", datacontenttype: "image/png", data_base64: "AP8=" },
    { datacontenttype: "image/png", data_base64: "AP8=" },
  ],
  [
    "null",
    { id: "1", source: "/a", datacontenttype: "application/json" },
    { datacontenttype: "application/json", data: null },
  ],
] as const)
  test(`a CloudEvent of ${what} is sent as it was published`, () => {
    const { specversion, time, accountid } = cloudEvent("order.created", {});
    const common = { specversion, id: "1", source: "/a", type: "Some/Type", time, accountid };
    assert.deepEqual(cloudEvent("Some/Type", null, { cloudevents }), { ...common, ...expected });
  });

test("numbers that no double holds keep their digits in a CloudEvent", () => {
  const delivery = deliveryOf("webhook.received", null, {}, '{"payload":12345678901234567890.10}');
  assert.match(
    bodyIn("cloudevents", delivery, baseUrl).body.toString(),
    /"data":\{"payload":12345678901234567890\.10\}/,
  );
});

test("a thin body has the id, type and time of the event, and what it is about", () => {
  assert.deepEqual(
    parsed(bodyIn("thin", deliveryOf("image.created", { id: "img_1", title: "A boat" }), baseUrl).body),
    {
      id: "evt_1",
      type: "image.created",
      created_at: "2026-01-01T09:00:00.000Z",
      related_object: { id: "img_1", type: "image", url: "/images/img_1" },
    },
  );
});

for (const [type, data, related] of [
  ["account.settings_updated", { account_id: "acc_1" }, ["acc_1", "account_settings", "/api/account/settings/"]],
  ["api_key.revoked", { id: "key_1" }, ["key_1", "api_key", "/api/account/api-keys/key_1"]],
  ["image.erased", { image_id: "img_1" }, ["img_1", "image", "/images/img_1"]],
  ["webhook_delivery.parked", { id: "whd_1" }, ["whd_1", "webhook_delivery", "/api/v1/webhooks/deliveries/whd_1"]],
  ["webhook_event_type.downgraded", { name: "a.b" }, ["a.b", "webhook_event_type", "/api/v1/webhooks/event-types/a.b"]],
  [
    "webhook.received",
    { source_id: "src_1", received_id: "rcv_1" },
    ["rcv_1", "received_webhook", "/api/v1/webhooks/sources/src_1/received/rcv_1"],
  ],
] as const) {
  test(`a thin ${type} leads to its ${related[1]}`, () => {
    const [id, kind, url] = related;
    assert.deepEqual(thin(type, data), { id, type: kind, url });
  });
}

test("a thin body leads to the event where its reader can read nothing else", () => {
  const event = { id: "evt_1", type: "webhook_event", url: "/api/v1/webhooks/events/evt_1" };
  assert.deepEqual(thin("order.created", { id: "17" }), event, "an event of the account's own");
  assert.deepEqual(
    thin("image.created", { id: "img_1" }, { account_id: "acc_other" }),
    event,
    "a copy for an operator",
  );
  assert.deepEqual(thin("image.created", null), event, "the data of a purged account");
  assert.deepEqual(thin("constructor.called", { id: "x" }), event);
});
