import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { createReceiver, eventually, type Mailbox, readFixture } from "@signalbox/testing";
import type { System } from "../systems/system.ts";
import { type Client, createClient, expectStatus } from "./client.ts";
import { openidProperties, usesOpenidClient } from "./use-openid-client.ts";
import { verifiesBoth, withOneByteChanged } from "./verify-delivery.ts";

type Receiver = Awaited<ReturnType<typeof createReceiver>>;

/** What the journey leaves behind for checks on the events and the trace. */
export interface JourneyRecord {
  readonly accountId: string;
  readonly imageId: string;
  /** The trace that the upload request was part of. */
  readonly uploadTraceId: string;
}

/** What a system is started with for the journey. */
export const journeyProperties = (mailbox: Mailbox) => ({
  "webhook-delivery.outbound.allow": "127.0.0.1:*",
  ...openidProperties(mailbox),
});

/** The journey of a new user through every service, over HTTP alone. Each step is a promise of the README's tour. */
export async function runJourney(system: System, mailbox: Mailbox): Promise<JourneyRecord> {
  const send = createClient(system.baseUrl, system.apiKey);
  const receiver = await createReceiver();
  try {
    const accountId = await changesTheDisplayName(send);
    const secret = await registersAnEndpoint(send, receiver.url);
    const { imageId, uploadTraceId } = await uploadsAPhotograph(send);
    await getsWebp(send, imageId);
    await receivesSignedDeliveries(receiver, secret, imageId);
    await acceptsAPartnersWebhookOnce(system, send, receiver);
    await readsConfiguration(send, system);
    await queriesEverythingAtOnce(send, imageId);
    await usesOpenidClient(system, send, mailbox, imageId);
    await refusesStrangers(system);
    await exportsEverything(send, { accountId, imageId, secret });
    return { accountId, imageId, uploadTraceId };
  } finally {
    await receiver.close();
  }
}

async function changesTheDisplayName(send: Client): Promise<string> {
  const before = expectStatus(await send("/api/account/"), 200);
  assert.equal(before.json.status, "active");
  const displayName = `Ada ${randomBytes(3).toString("hex")}`;
  const body = { display_name: displayName };
  const after = expectStatus(await send("/api/account/", { method: "PATCH", body }), 200);
  assert.equal(after.json.display_name, displayName);
  assert.notEqual(after.headers.get("etag"), before.headers.get("etag"));
  return after.json.id;
}

async function registersAnEndpoint(send: Client, url: string): Promise<string> {
  const body = { url, event_types: ["image.*", "webhook.received"] };
  const created = expectStatus(await send("/api/v1/webhooks/endpoints", { body }), 201);
  assert.equal(created.json.status, "enabled");
  assert.match(created.json.secret, /^whsec_/);
  const read = expectStatus(await send(created.headers.get("location") ?? ""), 200);
  assert.equal(read.json.secret, undefined, "the secret is shown once");
  return created.json.secret;
}

async function uploadsAPhotograph(send: Client): Promise<{ imageId: string; uploadTraceId: string }> {
  const uploadTraceId = randomBytes(16).toString("hex");
  const form = new FormData();
  form.set("file", new Blob([await readFixture("photo.jpg")], { type: "image/jpeg" }), "photo.jpg");
  form.set("alt_text", "A photograph");
  const traceparent = `00-${uploadTraceId}-${randomBytes(8).toString("hex")}-01`;
  const created = expectStatus(await send("/images", { body: form, headers: { traceparent } }), 201);
  const location = created.headers.get("location");
  assert.equal(location, `/images/${created.json.id}`);
  assert.equal(created.json.mime_type, "image/jpeg");
  await eventually(async () => {
    const { json } = expectStatus(await send(location), 200);
    assert.equal(json.status, "ready");
    assert.ok(json.variants.thumbnail);
  });
  return { imageId: created.json.id, uploadTraceId };
}

async function getsWebp(send: Client, imageId: string): Promise<void> {
  const path = `/images/${imageId}/content?width=320`;
  const first = expectStatus(await send(path, { headers: { accept: "image/webp" } }), 200);
  assert.equal(first.headers.get("content-type"), "image/webp");
  assert.equal(first.bytes.subarray(8, 12).toString("latin1"), "WEBP");
  const etag = first.headers.get("etag") ?? "";
  assert.match(etag, /^"/);
  const again = await send(path, { headers: { accept: "image/webp", "if-none-match": etag } });
  expectStatus(again, 304);
  assert.equal(again.headers.get("etag"), etag);
  assert.equal(again.bytes.length, 0);
}

async function receivesSignedDeliveries(receiver: Receiver, secret: string, imageId: string): Promise<void> {
  for (const type of ["image.created", "image.rendition_ready"]) {
    const delivery = await receiver.waitFor((request) => request.headers["x-event-type"] === type);
    const envelope = JSON.parse(delivery.body.toString("utf8"));
    assert.equal(envelope.type, type);
    assert.equal(envelope.data.id, imageId);
    assert.equal(delivery.headers["webhook-id"], envelope.id);
    assert.ok(verifiesBoth(delivery, secret), `${type} carries both signatures`);
    assert.ok(!verifiesBoth(withOneByteChanged(delivery), secret), `${type} with one changed byte is rejected`);
  }
}

async function acceptsAPartnersWebhookOnce(system: System, send: Client, receiver: Receiver): Promise<void> {
  const secret = `whsec_${randomBytes(24).toString("base64")}`;
  const source = { name: "Partner", scheme: "standard-webhooks", secret };
  const created = expectStatus(await send("/api/v1/webhooks/sources", { body: source }), 201);
  assert.equal(created.json.secret, undefined, "a source's secret is write-only");
  const partner = createClient(system.baseUrl);
  const id = `msg_${randomBytes(8).toString("hex")}`;
  const signed = standardWebhook(id, secret, { type: "order.created", order: id });
  const path = `/ingest/${created.json.id}`;

  expectStatus(await partner(path, signed), 202);
  expectStatus(await partner(path, signed), 202);
  const forged = {
    ...signed,
    headers: { ...signed.headers, "webhook-signature": `v1,${randomBytes(32).toString("base64")}` },
  };
  expectStatus(await partner(path, forged), 401);

  const isThisOne = (request: { body: Buffer }) => request.body.includes(id);
  const delivery = await receiver.waitFor((request) => isThisOne(request));
  assert.equal(JSON.parse(delivery.body.toString("utf8")).type, "webhook.received");
  const rejections = await eventually(async () => {
    const answer = expectStatus(await send(`/api/v1/webhooks/sources/${created.json.id}/rejections`), 200);
    assert.equal(answer.json.items.length, 1);
    return answer.json.items;
  });
  assert.equal(typeof rejections[0].reason, "string");
  const received = expectStatus(await send(`/api/v1/webhooks/sources/${created.json.id}/received`), 200);
  assert.equal(received.json.items.length, 1, "the second delivery had no second effect");
  assert.equal(receiver.requests.filter(isThisOne).length, 1);
}

function standardWebhook(id: string, secret: string, payload: unknown) {
  const body = Buffer.from(JSON.stringify(payload));
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  return {
    body,
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signature}`,
    } as Record<string, string>,
  };
}

async function readsConfiguration(send: Client, system: System): Promise<void> {
  const config = expectStatus(await send("/api/v1/config/"), 200);
  assert.equal(config.json.apiVersion, "v1");
  assert.equal(config.json.limits.maxPageSize, 100);
  const etag = config.headers.get("etag") ?? "";
  expectStatus(await send("/api/v1/config/", { headers: { "if-none-match": etag } }), 304);
  const settings = expectStatus(await send("/api/v2/settings/"), 200);
  assert.equal(typeof settings.json.server.name, "string");
  const environment = expectStatus(await send("/api/v1/env/"), 200);
  assert.equal(environment.json.status, "up");
  const status = expectStatus(await send("/api/v1/status/config"), 200);
  assert.ok(status.json.services.length > 0);

  const manage = createClient(system.managementUrls.get("account") ?? system.managementUrl, system.apiKey);
  const sources = expectStatus(await manage("/management/env"), 200);
  assert.ok(sources.json.propertySources.length > 1);
  assert.ok(!sources.bytes.includes(system.apiKey), "no key in the listing");
  const token = expectStatus(await manage("/management/env/internal.token"), 200);
  assert.equal(token.json.property.value, "******");
}

async function queriesEverythingAtOnce(send: Client, imageId: string): Promise<void> {
  const query = `query Journey {
    viewer {
      id
      displayName
      images(first: 5) { edges { node { id status } } pageInfo { hasNextPage endCursor } }
      webhookEndpoints(first: 5) { edges { node { id url } } }
      webhookSources(first: 5) { edges { node { id name } } }
    }
    serverSettings { server { name } }
  }`;
  const { json } = expectStatus(await send("/graphql", { body: { query } }), 200);
  assert.deepEqual(json.errors, undefined);
  const images = json.data.viewer.images.edges.map((edge: { node: { id: string } }) => edge.node.id);
  assert.ok(images.includes(imageId));
  assert.ok(json.data.viewer.webhookEndpoints.edges.length > 0);
  assert.ok(json.data.viewer.webhookSources.edges.length > 0);
  assert.equal(typeof json.data.serverSettings.server.name, "string");
}

async function exportsEverything(send: Client, known: { accountId: string; imageId: string; secret: string }) {
  const answer = expectStatus(await send("/api/account/export/"), 200);
  assert.match(answer.headers.get("content-disposition") ?? "", /^attachment/);
  const { json } = answer;
  assert.equal(json.account.id, known.accountId);
  const [image] = json.images.filter(({ id }: { id: string }) => id === known.imageId);
  assert.equal(image.alt_text, "A photograph");
  assert.ok(json.webhook_sources.length > 0 && json.webhook_endpoints.length > 0 && json.audit.length > 0);
  assert.deepEqual([json.left_out, json.complete], [[], true]);
  const text = answer.bytes.toString("utf8");
  assert.ok(!text.includes(known.secret) && !text.includes("whsec_"), "no secret leaves with an export");
}

async function refusesStrangers(system: System): Promise<void> {
  const stranger = createClient(system.baseUrl);
  for (const path of ["/api/account/", "/images", "/api/v1/config/", "/api/v1/webhooks/endpoints"]) {
    const answer = expectStatus(await stranger(path), 401);
    assert.equal(answer.json.error.code, "unauthorized");
    assert.ok(answer.headers.get("www-authenticate"));
  }
  const nothing = expectStatus(await stranger("/no-such-route"), 404);
  assert.equal(nothing.json.error.code, "not_found");
}
