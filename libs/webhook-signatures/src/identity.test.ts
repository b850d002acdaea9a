import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { schemeOf } from "./schemes.ts";

const none = { headers: {}, body: Buffer.from("{}") };

test("each scheme says where its delivery id and event type are", () => {
  const github = { headers: { "x-github-delivery": "guid", "x-github-event": "push" }, body: none.body };
  assert.deepEqual(schemeOf("github").identify(github, {}), { deliveryId: "guid", eventType: "push" });
  assert.deepEqual(schemeOf("stripe").identify(none, { id: "evt_1", type: "charge.failed" }), {
    deliveryId: "evt_1",
    eventType: "charge.failed",
  });
  assert.deepEqual(
    schemeOf("slack").identify(none, { event_id: "Ev1", type: "event_callback", event: { type: "message" } }),
    {
      deliveryId: "Ev1",
      eventType: "message",
    },
  );
  const standard = { headers: { "webhook-id": "msg_1" }, body: none.body };
  assert.deepEqual(schemeOf("standard-webhooks").identify(standard, { type: "a.b" }), {
    deliveryId: "msg_1",
    eventType: "a.b",
  });
});

test("shopify: two topics of one merchant action are two deliveries", () => {
  const of = (topic: string) =>
    schemeOf("shopify").identify(
      { headers: { "x-shopify-event-id": "e1", "x-shopify-topic": topic }, body: none.body },
      {},
    );
  assert.notEqual(of("orders/create").deliveryId, of("orders/paid").deliveryId);
  assert.equal(of("orders/paid").deliveryId, of("orders/paid").deliveryId);
});

test("hmac: the id is the header's, else the body's, else the digest of time and body", () => {
  const scheme = schemeOf("hmac");
  const headers = { "x-timestamp": "1700000000" };
  assert.equal(
    scheme.identify({ headers: { ...headers, "x-delivery-id": "d1" }, body: none.body }, { id: "b1" }).deliveryId,
    "d1",
  );
  assert.equal(scheme.identify({ headers, body: none.body }, { id: "b1" }).deliveryId, "b1");
  const digest = createHash("sha256").update("1700000000.{}").digest("hex");
  assert.equal(scheme.identify({ headers, body: none.body }, {}).deliveryId, digest);
});

test("what a payload inherits or nests as something else is no id", () => {
  for (const payload of [
    null,
    [],
    "text",
    7,
    { id: "" },
    { id: {} },
    { id: null },
    Object.create({ id: "inherited" }),
  ]) {
    assert.deepEqual(schemeOf("stripe").identify(none, payload), { deliveryId: null, eventType: null });
  }
});

test("slack: a challenge is answered, an ordinary event is none", () => {
  const { challenge } = schemeOf("slack");
  assert.equal(challenge?.({ type: "url_verification", challenge: "abc" }), "abc");
  assert.equal(challenge?.({ type: "event_callback", challenge: "abc" }), null);
});
