import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import "@shopify/shopify-api/adapters/node";
import { Signature } from "@hubspot/api-client";
import { LinearWebhookClient } from "@linear/sdk/webhooks";
import { Webhooks } from "@octokit/webhooks";
import { shopifyApi } from "@shopify/shopify-api";
import { isValidSlackRequest } from "@slack/bolt";
import { verifyKey } from "discord-interactions";
import { Webhook as StandardWebhook } from "standardwebhooks";
import Stripe from "stripe";
import { Webhook as SvixWebhook } from "svix";
import { presets } from "./presets/presets.ts";
import { schemeOf } from "./schemes.ts";
import type { SignatureScheme } from "./signature-scheme.ts";

/** Signatures made with the partners' own libraries, or checked by them: none of this code is ours. */
const body = JSON.stringify({ id: "evt_1", type: "order.created", text: "Grüße ✓", amount: 12345678901234 });
const url = "https://hub.example/ingest/src_1";
const secret = "a secret with sixteen bytes and more";
const nowSeconds = Math.floor(Date.now() / 1000);

function judged(scheme: SignatureScheme, headers: Record<string, string>, key: string, text = body) {
  const request = { method: "POST", url, headers, body: Buffer.from(text) };
  return scheme.verify(request, { secrets: [key], nowSeconds, toleranceSeconds: 300 }).verified;
}

/** Asserts that the library's signature verifies, and fails with another body or secret. */
function assertJudged(scheme: SignatureScheme, headers: Record<string, string>, key = secret, otherKey = `${key}x`) {
  assert.equal(judged(scheme, headers, key), true);
  assert.equal(judged(scheme, headers, key, `${body} `), false);
  assert.equal(judged(scheme, headers, otherKey), false);
}

test("stripe signs", () => {
  const header = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: nowSeconds });
  assertJudged(schemeOf("stripe"), { "stripe-signature": header });
});

test("@octokit/webhooks signs", async () => {
  const signature = await new Webhooks({ secret }).sign(body);
  assertJudged(schemeOf("github"), { "x-hub-signature-256": signature });
});

for (const [name, Webhook, prefix] of [
  ["standardwebhooks", StandardWebhook, "webhook"],
  ["svix", SvixWebhook, "svix"],
] as const) {
  test(`${name} signs`, () => {
    const key = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
    const signature = new Webhook(key).sign("msg_1", new Date(nowSeconds * 1000), body);
    const headers = {
      [`${prefix}-id`]: "msg_1",
      [`${prefix}-timestamp`]: String(nowSeconds),
      [`${prefix}-signature`]: signature,
    };
    const other = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
    assertJudged(schemeOf("standard-webhooks"), headers, key, other);
  });
}

test("@slack/bolt verifies the same request as we do", () => {
  const time = String(nowSeconds);
  const signature = `v0=${createHmac("sha256", secret).update(`v0:${time}:${body}`).digest("hex")}`;
  const headers = { "x-slack-signature": signature, "x-slack-request-timestamp": nowSeconds };
  assert.equal(isValidSlackRequest({ signingSecret: secret, body, headers }), true);
  assertJudged(schemeOf("slack"), { "x-slack-signature": signature, "x-slack-request-timestamp": time });
});

test("@shopify/shopify-api verifies the same request as we do", async () => {
  const shopify = shopifyApi({
    ...{ apiKey: "key", apiSecretKey: secret, scopes: [], hostName: "hub.example" },
    ...{ apiVersion: "2026-01" as never, isEmbeddedApp: false, logger: { level: 0 } },
  });
  const hmac = createHmac("sha256", secret).update(body).digest("base64");
  const headers = {
    ...{ "X-Shopify-Hmac-Sha256": hmac, "X-Shopify-Topic": "orders/create", "X-Shopify-Webhook-Id": "w-1" },
    ...{ "X-Shopify-Shop-Domain": "shop.myshopify.com", "X-Shopify-API-Version": "2026-01" },
  };
  const rawRequest = { method: "POST", url: "/ingest", headers } as never;
  const rawResponse = {} as never;
  assert.equal((await shopify.webhooks.validate({ rawBody: body, rawRequest, rawResponse })).valid, true);
  assertJudged(schemeOf("shopify"), { "x-shopify-hmac-sha256": hmac });
});

const presetScheme = (name: keyof typeof presets) => schemeOf(presets[name].scheme, presets[name].settings);

test("@linear/sdk verifies the same request as we do", () => {
  const timed = JSON.stringify({ action: "create", webhookTimestamp: Date.now() });
  const signature = createHmac("sha256", secret).update(timed).digest("hex");
  assert.equal(new LinearWebhookClient(secret).verify(Buffer.from(timed), signature), true);
  assert.equal(judged(presetScheme("linear"), { "linear-signature": signature }, secret, timed), true);
  assert.equal(judged(presetScheme("linear"), { "linear-signature": signature }, secret, `${timed} `), false);
});

test("@hubspot/api-client signs", () => {
  const timestamp = nowSeconds * 1000 + 250;
  const options = { clientSecret: secret, requestBody: body, url, method: "POST", signatureVersion: "v3", timestamp };
  const signature = Signature.getSignature("POST", "v3", { ...options, signature: "" });
  const headers = { "x-hubspot-signature-v3": signature, "x-hubspot-request-timestamp": String(timestamp) };
  assertJudged(presetScheme("hubspot"), headers);
});

test("discord-interactions verifies the same request as we do", async () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const keyOf = (key: typeof publicKey) =>
    Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url").toString("hex");
  const time = String(nowSeconds);
  const signature = sign(null, Buffer.from(time + body), privateKey).toString("hex");
  assert.equal(await verifyKey(body, signature, time, keyOf(publicKey)), true);
  const headers = { "x-signature-ed25519": signature, "x-signature-timestamp": time };
  assertJudged(presetScheme("discord"), headers, keyOf(publicKey), keyOf(generateKeyPairSync("ed25519").publicKey));
});
