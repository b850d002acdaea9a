import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { createEndpointSecret, createSigningKey, deliveryHeaders } from "./delivery-headers.ts";
import { answerChallenge } from "./handshakes.ts";
import { createHmacScheme } from "./hmac-scheme.ts";
import { type SchemeName, schemeOf } from "./schemes.ts";
import { parseSignedContent } from "./signed-content.ts";

test("a template is parsed into texts, parts of the request and headers", () => {
  assert.deepEqual(parseSignedContent("v0:{timestamp}{header:X-Shop}\n{body}"), [
    { text: "v0:" },
    { placeholder: "timestamp" },
    { header: "x-shop" },
    { text: "\n" },
    { placeholder: "body" },
  ]);
});

test("a template without the body, with it twice, or with an unknown part is refused with the reason", () => {
  for (const template of ["", "{timestamp}", "body", "{body}{body}"]) {
    assert.match(String(parseSignedContent(template)), /must have \{body\} once/, template);
  }
  for (const template of [
    "{body}{}",
    "{body}{Body}",
    "{body}{header:}",
    "{body}{header:a b}",
    "{body}{",
    "}{body}",
    "{ body}",
  ]) {
    assert.match(String(parseSignedContent(template)), /is unknown/, template);
  }
});

test("a time in the body is checked in its unit, both ways", () => {
  const scheme = createHmacScheme({ signedContent: "{body}", timestampFrom: { pointer: "/sent~1at" }, timeUnit: "ms" });
  const judged = (payload: unknown) => {
    const verdict = scheme.verifyTime?.(payload, { secrets: [], nowSeconds: 1_700_000_000, toleranceSeconds: 300 });
    return verdict?.verified ? verdict.timestampSeconds : verdict?.problem;
  };
  assert.equal(judged({ "sent/at": 1_700_000_000_250 }), 1_700_000_000.25);
  assert.equal(judged({ "sent/at": "1700000000250" }), 1_700_000_000.25);
  assert.equal(judged({ "sent/at": 1_700_000_000 }), "timestamp_too_old");
  assert.equal(judged({ "sent/at": 1_700_000_301_000 }), "timestamp_in_future");
  assert.equal(judged({ "sent/at": "soon" }), "timestamp_malformed");
  for (const payload of [{}, null, [], { "sent/at": 1.5 }]) assert.equal(judged(payload), "timestamp_missing");
});

const posted = { method: "POST", url: "https://example.com/ingest" };

const delivery = {
  eventId: "01890a5d-ac96-774b-bcce-b302099a8057",
  eventType: "image.created",
  deliveryId: "dlv_1",
  timestampSeconds: 1_700_000_000,
  body: '{"id":"é"}',
};

function received(headers: Record<string, string>, scheme: SchemeName, secret: string, body = delivery.body) {
  const lowered = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const options = { secrets: [secret], nowSeconds: delivery.timestampSeconds + 20, toleranceSeconds: 300 };
  return schemeOf(scheme).verify({ ...posted, headers: lowered, body: Buffer.from(body) }, options).verified;
}

test("a signed number stands in the text as the sender wrote it", () => {
  const secret = "a secret of the shop, as typed";
  const scheme = createHmacScheme({ signedContent: "{body:/id}:{body:/amount}", signaturePrefix: "" });
  const signature = createHmac("sha256", secret).update("9007199254740993:1.10").digest("hex");
  const request = { ...posted, headers: { "x-signature": signature } };
  const body = Buffer.from('{"id":9007199254740993,"amount":1.10}');
  const limits = { secrets: [secret], nowSeconds: 0, toleranceSeconds: 300 };
  assert.equal(scheme.verify({ ...request, body }, limits).verified, true);
});

test("a delivery verifies under both signature families, unless a byte was changed", () => {
  const secret = createEndpointSecret();
  const headers = deliveryHeaders({ ...delivery, secrets: [secret] });
  for (const scheme of ["hmac", "standard-webhooks"] as const) {
    assert.equal(received(headers, scheme, secret), true, scheme);
    assert.equal(received(headers, scheme, secret, '{"id":"e"}'), false, scheme);
    assert.equal(received(headers, scheme, createEndpointSecret()), false, scheme);
  }
  assert.equal(headers["X-Event-Type"], "image.created");
  assert.equal(headers["X-Delivery-Id"], "dlv_1");
  assert.equal(headers["webhook-id"], delivery.eventId);
  assert.equal(headers["X-Signature-Previous"], undefined);
});

test("a type of any text is a header that every client can send", () => {
  const typeIn = (eventType: string) =>
    deliveryHeaders({ ...delivery, eventType, secrets: [createEndpointSecret()] })["X-Event-Type"];
  assert.equal(typeIn("com.example/Order~created!"), "com.example/Order~created!");
  assert.equal(typeIn('é 100% "😀"'), "%C3%A9%20100%25%20%22%F0%9F%98%80%22");
});

test("our signing reproduces the first published vector", () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const vector = {
    ...delivery,
    eventId: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    timestampSeconds: 1614265330,
    secrets: [secret],
  };
  const privateKey = "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
  const headers = deliveryHeaders({ ...vector, body: '{"test": 2432232314}', privateKeys: [privateKey] });
  assert.equal(
    headers["webhook-signature"],
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= " +
      "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==",
  );
});

test("while a rotation overlaps, receivers that hold any of the live secrets verify", () => {
  const secrets = Array.from({ length: 5 }, createEndpointSecret);
  const headers = deliveryHeaders({ ...delivery, secrets });
  for (const live of secrets) assert.equal(received(headers, "standard-webhooks", live), true);
  for (const live of secrets.slice(0, 2)) assert.equal(received(headers, "hmac", live), true);
});

test("a receiver that has only the public key verifies v1a", () => {
  const { privateKey, publicKey } = createSigningKey();
  const headers = deliveryHeaders({ ...delivery, secrets: [createEndpointSecret()], privateKeys: [privateKey] });
  assert.equal(received(headers, "standard-webhooks", publicKey), true);
  assert.equal(received(headers, "standard-webhooks", createSigningKey().publicKey), false);
});

test("a secret that no receiver could verify stops the delivery instead of sending it unsigned", () => {
  for (const secret of ["", "plain", "whsec_short"])
    assert.throws(() => deliveryHeaders({ ...delivery, secrets: [secret] }), RangeError);
  const secret = createEndpointSecret();
  assert.throws(() => deliveryHeaders({ ...delivery, secrets: [secret], privateKeys: ["whsk_AAAA"] }), RangeError);
});

test("a receiver with the library of Stripe or GitHub verifies when the endpoint asks for it", () => {
  const secrets = [createEndpointSecret(), createEndpointSecret()];
  const headers = deliveryHeaders({ ...delivery, secrets, extraFormats: ["stripe", "github"] });
  for (const live of secrets) assert.equal(received(headers, "stripe", live), true);
  assert.equal(received({ ...headers, "X-GitHub-Delivery": "1" }, "github", secrets[0] ?? ""), true);
  const plain = deliveryHeaders({ ...delivery, secrets });
  assert.deepEqual([plain["Stripe-Signature"], plain["X-Hub-Signature-256"]], [undefined, undefined]);
});

const signed = (value: string) => ({ value, signed: true });
const unsigned = (value: string) => ({ value, signed: false });
const none = { ...posted, headers: {}, body: Buffer.from("{}") };

test("each scheme finds its delivery id and event type, marked as signed or not", () => {
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
