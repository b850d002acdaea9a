import assert from "node:assert/strict";
import { test } from "node:test";
import { createEndpointSecret, createSigningKey, deliveryHeaders } from "./delivery-headers.ts";
import { type SchemeName, schemeOf } from "./schemes.ts";

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

test("a delivery carries both signature families, and a receiver of either verifies it and refuses a changed byte", () => {
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
