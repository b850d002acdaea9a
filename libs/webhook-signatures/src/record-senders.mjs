/**
 * Records what the senders' own libraries sign and verify into `recorded-senders.json`, which `senders.test.ts` holds our
 * schemes against. The libraries weigh 100 MB, so they are installed for this alone:
 *
 *     npm install --no-save @hubspot/api-client@13.5.0 @linear/sdk@98.0.0 @octokit/webhooks@14.2.0 \
 *       @shopify/shopify-api@13.1.0 @slack/bolt@5.1.0 discord-interactions@4.4.0 standardwebhooks@1.1.1 stripe@23.1.0 svix@1.99.1
 *     node libs/webhook-signatures/src/record-senders.mjs
 */
import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const body = JSON.stringify({ id: "evt_1", type: "order.created", text: "Grüße ✓", amount: 12345678901234 });
const url = "https://hub.example/ingest/src_1";
const secret = "a secret with sixteen bytes and more";
const otherSecret = `${secret}x`;
const nowSeconds = Math.floor(Date.now() / 1000);
const hmac = (content, encoding) => createHmac("sha256", secret).update(content).digest(encoding);

/** By a name that is worked out, so that no tool looks for a package that is not installed. */
const load = (name) => import(name);

const recordings = [
  await recordStripe(),
  await recordGithub(),
  await recordStandardWebhooks("standardwebhooks", "webhook"),
  await recordStandardWebhooks("svix", "svix"),
  await recordSlack(),
  await recordShopify(),
  await recordLinear(),
  await recordHubspot(),
  await recordDiscord(),
];
const file = new URL("recorded-senders.json", import.meta.url);
await writeFile(file, `${JSON.stringify({ nowSeconds, recordings }, null, 2)}\n`);

/** `by` says whether the library made the signature, or took one that was made by the recipe of its documentation. */
async function recording(name, by, scheme, headers, more = {}) {
  return {
    package: name,
    version: await versionOf(name),
    by,
    scheme,
    secret,
    otherSecret,
    url,
    body,
    headers,
    ...more,
  };
}

async function versionOf(name) {
  let folder = dirname(createRequire(import.meta.url).resolve(name));
  for (;;) {
    const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8").catch(() => "{}"));
    if (manifest.name === name) return manifest.version;
    folder = dirname(folder);
  }
}

async function recordStripe() {
  const { default: Stripe } = await load("stripe");
  const header = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: nowSeconds });
  return recording("stripe", "signed", { name: "stripe" }, { "stripe-signature": header });
}

async function recordGithub() {
  const { Webhooks } = await load("@octokit/webhooks");
  const signature = await new Webhooks({ secret }).sign(body);
  return recording("@octokit/webhooks", "signed", { name: "github" }, { "x-hub-signature-256": signature });
}

async function recordStandardWebhooks(name, prefix) {
  const { Webhook } = await load(name);
  const [key, other] = [9, 8].map((byte) => `whsec_${Buffer.alloc(32, byte).toString("base64")}`);
  const headers = {
    [`${prefix}-id`]: "msg_1",
    [`${prefix}-timestamp`]: String(nowSeconds),
    [`${prefix}-signature`]: new Webhook(key).sign("msg_1", new Date(nowSeconds * 1000), body),
  };
  return recording(name, "signed", { name: "standard-webhooks" }, headers, { secret: key, otherSecret: other });
}

async function recordSlack() {
  const { isValidSlackRequest } = await load("@slack/bolt");
  const headers = {
    "x-slack-signature": `v0=${hmac(`v0:${nowSeconds}:${body}`, "hex")}`,
    "x-slack-request-timestamp": String(nowSeconds),
  };
  const given = { ...headers, "x-slack-request-timestamp": nowSeconds };
  const takes = (text) => isValidSlackRequest({ signingSecret: secret, body: text, headers: given });
  assert.deepEqual([takes(body), takes(`${body} `)], [true, false]);
  return recording("@slack/bolt", "verified", { name: "slack" }, headers);
}

async function recordShopify() {
  await load("@shopify/shopify-api/adapters/node");
  const { shopifyApi } = await load("@shopify/shopify-api");
  const shopify = shopifyApi({
    apiKey: "key",
    apiSecretKey: secret,
    scopes: [],
    hostName: "hub.example",
    apiVersion: "2026-01",
    isEmbeddedApp: false,
    logger: { level: 0 },
  });
  const signature = hmac(body, "base64");
  const headers = {
    "X-Shopify-Hmac-Sha256": signature,
    "X-Shopify-Topic": "orders/create",
    "X-Shopify-Webhook-Id": "w-1",
    "X-Shopify-Shop-Domain": "shop.myshopify.com",
    "X-Shopify-API-Version": "2026-01",
  };
  const rawRequest = { method: "POST", url: "/ingest", headers };
  const takes = async (rawBody) => (await shopify.webhooks.validate({ rawBody, rawRequest, rawResponse: {} })).valid;
  assert.deepEqual([await takes(body), await takes(`${body} `)], [true, false]);
  return recording("@shopify/shopify-api", "verified", { name: "shopify" }, { "x-shopify-hmac-sha256": signature });
}

async function recordLinear() {
  const { LinearWebhookClient } = await load("@linear/sdk/webhooks");
  const timed = JSON.stringify({ action: "create", webhookTimestamp: nowSeconds * 1000 });
  const signature = hmac(timed, "hex");
  const takes = (text) => {
    try {
      return new LinearWebhookClient(secret).verify(Buffer.from(text), signature);
    } catch {
      return false;
    }
  };
  assert.deepEqual([takes(timed), takes(`${timed} `)], [true, false]);
  return recording("@linear/sdk", "verified", { preset: "linear" }, { "linear-signature": signature }, { body: timed });
}

async function recordHubspot() {
  const { Signature } = await load("@hubspot/api-client");
  const timestamp = nowSeconds * 1000 + 250;
  const options = { clientSecret: secret, requestBody: body, url, method: "POST", signatureVersion: "v3", timestamp };
  const headers = {
    "x-hubspot-signature-v3": Signature.getSignature("POST", "v3", { ...options, signature: "" }),
    "x-hubspot-request-timestamp": String(timestamp),
  };
  return recording("@hubspot/api-client", "signed", { preset: "hubspot" }, headers);
}

async function recordDiscord() {
  const { verifyKey } = await load("discord-interactions");
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const keyOf = (key) => Buffer.from(key.export({ format: "jwk" }).x, "base64url").toString("hex");
  const time = String(nowSeconds);
  const signature = sign(null, Buffer.from(time + body), privateKey).toString("hex");
  const takes = (text) => verifyKey(text, signature, time, keyOf(publicKey));
  assert.deepEqual([await takes(body), await takes(`${body} `)], [true, false]);
  const headers = { "x-signature-ed25519": signature, "x-signature-timestamp": time };
  const keys = { secret: keyOf(publicKey), otherSecret: keyOf(generateKeyPairSync("ed25519").publicKey) };
  return recording("discord-interactions", "verified", { preset: "discord" }, headers, keys);
}
