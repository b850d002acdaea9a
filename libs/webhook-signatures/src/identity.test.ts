import assert from "node:assert/strict";
import { test } from "node:test";
import { answerChallenge } from "./handshakes.ts";
import { schemeOf } from "./schemes.ts";

const signed = (value: string) => ({ value, signed: true });
const unsigned = (value: string) => ({ value, signed: false });
const posted = { method: "POST", url: "https://example.com/ingest" };
const none = { ...posted, headers: {}, body: Buffer.from("{}") };

test("each scheme finds its delivery id and event type, and marks them as signed or not", () => {
  const github = { ...posted, headers: { "x-github-delivery": "guid", "x-github-event": "push" }, body: none.body };
  assert.deepEqual(schemeOf("github").identify(github, {}), {
    deliveryId: unsigned("guid"),
    eventType: unsigned("push"),
  });
  assert.deepEqual(schemeOf("stripe").identify(none, { id: "evt_1", type: "charge.failed" }), {
    deliveryId: signed("evt_1"),
    eventType: signed("charge.failed"),
  });
  assert.deepEqual(
    schemeOf("slack").identify(none, { event_id: "Ev1", type: "event_callback", event: { type: "message" } }),
    {
      deliveryId: signed("Ev1"),
      eventType: signed("message"),
    },
  );
  const standard = { ...posted, headers: { "webhook-id": "msg_1" }, body: none.body };
  assert.deepEqual(schemeOf("standard-webhooks").identify(standard, { type: "a.b" }), {
    deliveryId: signed("msg_1"),
    eventType: signed("a.b"),
  });
});

test("shopify: two topics of one merchant action are two deliveries", () => {
  const of = (topic: string) =>
    schemeOf("shopify").identify(
      { ...posted, headers: { "x-shopify-event-id": "e1", "x-shopify-topic": topic }, body: none.body },
      {},
    );
  assert.notDeepEqual(of("orders/create").deliveryId, of("orders/paid").deliveryId);
  assert.deepEqual(of("orders/paid").deliveryId, of("orders/paid").deliveryId);
});

test("hmac: the id is the header's, unsigned, or else the body's", () => {
  const scheme = schemeOf("hmac");
  const headers = { "x-timestamp": "1700000000" };
  const named = { ...posted, headers: { ...headers, "x-delivery-id": "d1" }, body: none.body };
  assert.deepEqual(scheme.identify(named, { id: "b1" }).deliveryId, unsigned("d1"));
  assert.deepEqual(scheme.identify({ ...posted, headers, body: none.body }, { id: "b1" }).deliveryId, signed("b1"));
  assert.equal(scheme.identify({ ...posted, headers, body: none.body }, {}).deliveryId, null);
});

test("hmac: a type that the signature covers counts before one that it does not", () => {
  const request = { ...posted, headers: { "x-event-type": "order.deleted" }, body: none.body };
  const typeOf = (options: object, payload: object) => schemeOf("hmac", options).identify(request, payload).eventType;
  assert.deepEqual(typeOf({}, { type: "order.created" }), signed("order.created"));
  assert.deepEqual(typeOf({}, {}), unsigned("order.deleted"));
  const overType = { signedContent: "{timestamp}.{header:x-event-type}.{body}" };
  assert.deepEqual(typeOf(overType, { type: "order.created" }), signed("order.deleted"));
});

test("inherited or nested members of a payload are no id", () => {
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

test("slack: a challenge is answered, an ordinary event is not", () => {
  assert.equal(schemeOf("slack").handshake, "slack");
  assert.equal(answerChallenge("slack", { type: "url_verification", challenge: "abc" }, "")?.text, "abc");
  assert.equal(answerChallenge("slack", { type: "event_callback", challenge: "abc" }, ""), null);
});
