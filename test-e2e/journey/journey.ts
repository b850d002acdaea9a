import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type Client, createClient, dataOf, idempotencyKey } from "@signalbox/client";
import { createReceiver, eventually, type Mailbox, readFixture } from "@signalbox/testing";
import type { System } from "../systems/system.ts";
import { createClient as createSender, expectStatus, githubHeaders } from "./client.ts";
import { openidProperties, usesOpenidClient } from "./use-openid-client.ts";

type Receiver = Awaited<ReturnType<typeof createReceiver>>;

/** Traces of the journey, for checks on events and spans. */
export interface JourneyRecord {
  readonly accountId: string;
  readonly imageId: string;
  /** The trace of the upload request. */
  readonly uploadTraceId: string;
}

/** Properties of a system for the journey. */
export const journeyProperties = (mailbox: Mailbox) => ({
  "webhook-delivery.outbound.allow": "127.0.0.1:*",
  ...openidProperties(mailbox),
});

/**
 * Runs the journey of a new user through every service, over HTTP alone. Each step is a promise of the README's tour.
 */
export async function runJourney(system: System, mailbox: Mailbox): Promise<JourneyRecord> {
  const client = createClient({ baseUrl: system.baseUrl, credential: { apiKey: system.apiKey } });
  const receiver = await createReceiver();
  try {
    const accountId = await changesTheDisplayName(client);
    const secret = await registersAnEndpoint(client, receiver.url);
    const { imageId, uploadTraceId } = await uploadsAPhotograph(client);
    await announcesAFileAndCancels(client);
    await getsWebp(client, imageId);
    await receivesDeliveries(receiver, imageId);
    await acceptsAPartnersWebhookOnce(system, client, receiver);
    await readsConfiguration(client);
    await queriesEverythingAtOnce(system, imageId);
    await usesOpenidClient(system, mailbox);
    await carriesTheCanary(system);
    await exportsEverything(client, { accountId, imageId, secret });
    return { accountId, imageId, uploadTraceId };
  } finally {
    await receiver.close();
  }
}

async function changesTheDisplayName(client: Client): Promise<string> {
  const { data: before, response } = await client.GET("/api/account");
  assert.equal(before?.status, "active");
  const display_name = `Ada ${randomBytes(3).toString("hex")}`;
  const changed = await client.PATCH("/api/account", { body: { display_name } });
  assert.equal(changed.data?.display_name, display_name);
  assert.notEqual(changed.response.headers.get("etag"), response.headers.get("etag"));
  return before.id;
}

async function registersAnEndpoint(client: Client, url: string): Promise<string> {
  const body = { url, event_types: ["image.*", "webhook.received"] };
  const create = { params: { header: idempotencyKey() }, body };
  const created = await dataOf(client.POST("/api/v1/webhooks/endpoints", create));
  assert.deepEqual(
    await dataOf(client.POST("/api/v1/webhooks/endpoints", create)),
    created,
    "once, however often sent",
  );
  assert.equal(created.status, "enabled");
  assert.match(created.secret, /^whsec_/);
  const path = { id: created.id };
  const read = await dataOf(client.GET("/api/v1/webhooks/endpoints/{id}", { params: { path } }));
  assert.ok(!("secret" in read), "the secret is shown once");
  return created.secret;
}

async function uploadsAPhotograph(client: Client): Promise<{ imageId: string; uploadTraceId: string }> {
  const uploadTraceId = randomBytes(16).toString("hex");
  const file = new File([await readFixture("photo.jpg")], "photo.jpg", { type: "image/jpeg" });
  const traceparent = `00-${uploadTraceId}-${randomBytes(8).toString("hex")}-01`;
  const created = await client.POST("/images", {
    body: { file, alt_text: "A photograph" },
    headers: { traceparent },
  });
  const { id: image_id, mime_type } = created.data ?? assert.fail(JSON.stringify(created.error));
  assert.equal(created.response.headers.get("location"), `/images/${image_id}`);
  assert.equal(mime_type, "image/jpeg");
  await eventually(async () => {
    const image = await dataOf(client.GET("/images/{image_id}", { params: { path: { image_id } } }));
    assert.equal(image.status, "ready");
    assert.ok(image.variants.thumbnail);
  });
  return { imageId: image_id, uploadTraceId };
}

/** The use of direct uploads, so that each metric of the catalogue is exposed. */
async function announcesAFileAndCancels(client: Client): Promise<void> {
  const body = { filename: "hills.webp", mime_type: "image/webp", size_bytes: 1_000 };
  const { id } = await dataOf(client.POST("/images/uploads", { body }));
  const { response } = await client.DELETE("/images/uploads/{upload_id}", { params: { path: { upload_id: id } } });
  assert.equal(response.status, 204);
}

async function getsWebp(client: Client, image_id: string): Promise<void> {
  const { data, response } = await client.GET("/images/{image_id}/content", {
    params: { path: { image_id }, query: { width: 320 } },
    headers: { accept: "image/webp" },
    parseAs: "arrayBuffer",
  });
  assert.equal(response.headers.get("content-type"), "image/webp");
  assert.equal(Buffer.from(data ?? new ArrayBuffer(0)).toString("latin1", 8, 12), "WEBP");
}

async function receivesDeliveries(receiver: Receiver, imageId: string): Promise<void> {
  for (const type of ["image.created", "image.rendition_ready"]) {
    const delivery = await receiver.waitFor((request) => request.headers["x-event-type"] === type);
    const envelope = JSON.parse(delivery.body.toString("utf8"));
    assert.equal(envelope.type, type);
    assert.equal(envelope.data.id, imageId);
    assert.equal(delivery.headers["webhook-id"], envelope.id);
  }
}

async function acceptsAPartnersWebhookOnce(system: System, client: Client, receiver: Receiver): Promise<void> {
  const secret = randomBytes(24).toString("hex");
  const body = { name: "Partner", scheme: "github", secret } as const;
  const source = await dataOf(client.POST("/api/v1/webhooks/sources", { body }));
  assert.ok(!("secret" in source), "a source's secret is write-only");
  const partner = createSender(system.baseUrl);
  const order = randomBytes(8).toString("hex");
  const content = Buffer.from(JSON.stringify({ order }));
  const signed = { body: content, headers: githubHeaders(secret, content) };

  expectStatus(await partner(source.ingest_path, signed), 202);
  expectStatus(await partner(source.ingest_path, signed), 202);
  expectStatus(await partner(source.ingest_path, { ...signed, body: Buffer.from("{}") }), 401);

  const isThisOne = (request: { body: Buffer }) => request.body.includes(order);
  const delivery = await receiver.waitFor((request) => isThisOne(request));
  assert.equal(JSON.parse(delivery.body.toString("utf8")).type, "webhook.received");
  const params = { path: { id: source.id } };
  const [rejection] = await eventually(async () => {
    const { items } = await dataOf(client.GET("/api/v1/webhooks/sources/{id}/rejections", { params }));
    assert.equal(items.length, 1);
    return items;
  });
  assert.equal(rejection?.status, 401);
  const received = await dataOf(client.GET("/api/v1/webhooks/sources/{id}/received", { params }));
  assert.equal(received.items.length, 1, "the second delivery had no second effect");
  assert.equal(receiver.requests.filter(isThisOne).length, 1);
}

async function readsConfiguration(client: Client): Promise<void> {
  const config = await dataOf(client.GET("/api/v1/config"));
  assert.deepEqual([config.apiVersion, config.limits.maxPageSize], ["v1", 100]);
  assert.notEqual((await dataOf(client.GET("/api/v2/settings"))).server.name, "");
  assert.equal((await dataOf(client.GET("/api/v1/env"))).status, "up");
  assert.ok((await dataOf(client.GET("/api/v1/status/config"))).services.length > 0);
}

/** Expects that the service's own change has gone all the way, with nothing set up for it. */
async function carriesTheCanary({ managementUrls, managementUrl }: System): Promise<void> {
  const url = managementUrls.get("webhook-delivery") ?? managementUrl;
  await eventually(async () => {
    const text = await (await fetch(`${url}/management/metrics`)).text();
    assert.match(text, /^signalbox_canary_arrival_seconds_count\{[^}]*\} [1-9]/m);
    for (const topic of ["access", "config"]) {
      const age = new RegExp(`^signalbox_${topic}_canary_age_seconds\\{[^}]*\\} ([0-9.]+)`, "m").exec(text);
      assert.ok(Number(age?.[1]) < 90, age?.[0]);
    }
  });
}

async function queriesEverythingAtOnce(system: System, imageId: string): Promise<void> {
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
  const send = createSender(system.baseUrl, system.apiKey);
  const { json } = expectStatus(await send("/graphql", { body: { query } }), 200);
  assert.deepEqual(json.errors, undefined);
  const images = json.data.viewer.images.edges.map((edge: { node: { id: string } }) => edge.node.id);
  assert.ok(images.includes(imageId));
  assert.ok(json.data.viewer.webhookEndpoints.edges.length > 0);
  assert.ok(json.data.viewer.webhookSources.edges.length > 0);
  assert.equal(typeof json.data.serverSettings.server.name, "string");
}

async function exportsEverything(client: Client, known: { accountId: string; imageId: string; secret: string }) {
  const { data, response } = await client.GET("/api/account/export");
  assert.match(response.headers.get("content-disposition") ?? "", /^attachment/);
  assert.equal(data?.account.id, known.accountId);
  const image = data.images?.find(({ id }) => id === known.imageId);
  assert.equal(image?.alt_text, "A photograph");
  for (const section of [data.webhook_sources, data.webhook_endpoints, data.audit]) assert.notEqual(section?.length, 0);
  assert.deepEqual([data.left_out, data.complete], [[], true]);
  const text = JSON.stringify(data);
  assert.ok(!text.includes(known.secret) && !text.includes("whsec_"), "no secret leaves with an export");
}
