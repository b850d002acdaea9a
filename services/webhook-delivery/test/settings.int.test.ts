import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { TLSSocket } from "node:tls";
import { verify as verifyGithub } from "@octokit/webhooks-methods";
import { draft, eventOf } from "@signalbox/contracts";
import { systemClock } from "@signalbox/core";
import { createOutboundClient } from "@signalbox/net";
import { sql } from "@signalbox/storage";
import { createCertificates, eventually, type ReceivedRequest } from "@signalbox/testing";
import { Webhook as StandardWebhook } from "standardwebhooks";
import Stripe from "stripe";
import { Webhook as SvixWebhook } from "svix";
import { endpointsPath } from "./harness.ts";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

shareOneService();

const newEndpoint = (settings: object, more: object = {}) =>
  delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*", "webhook.received"], settings, ...more });
const patch = ({ id }: { id: string }, settings: object) =>
  delivery.send(who, "PATCH", `${endpointsPath}/${id}`, { body: { settings } });
const read = async ({ id }: { id: string }) => (await delivery.send(who, "GET", `${endpointsPath}/${id}`)).body;
const publish = async (data: object, more: object = {}) => {
  const body = { type: "order.created", data, ...more };
  assert.equal((await delivery.send(who, "POST", "/api/v1/webhooks/events", { body })).status, 202);
};
const run = async (text: string, values: unknown[] = []) => delivery.pool.query(sql("", text), values);
const dataOf = ({ body }: ReceivedRequest) => JSON.parse(body.toString()).data;
const textOf = ({ headers }: ReceivedRequest, name: string) => String(headers[name]);

test("an endpoint gets the events that match its filter", async () => {
  const endpoint = await newEndpoint({
    filter: { total: { gte: 100 }, any: [{ paid: { eq: true } }, { vip: { exists: true } }] },
  });
  for (const data of [{ total: 50, paid: true }, { total: 100 }, { total: 200, paid: true }]) await publish(data);
  await receiver.waitFor(() => true);
  await patch(endpoint, { filter: null });
  await publish({ total: 1 });
  await eventually(() => receiver.requests.length === 2);
  assert.deepEqual(receiver.requests.map(dataOf), [{ total: 200, paid: true }, { total: 1 }]);
  assert.equal((await delivery.deliveriesOf(who)).length, 2, "what the filter leaves makes no delivery");
  const wrong = await patch(endpoint, { filter: { total: { like: 1 } } });
  assert.deepEqual([wrong.status, wrong.body.error.details[0].field], [422, "settings.filter.total.like"]);
});

test("its own headers are on every delivery, and secret ones are sealed, never shown, and kept when the value is absent", async () => {
  const headers = [
    { name: "X-Team", value: "blue" },
    { name: "Authorization", value: "Bearer very-private", secret: true },
  ];
  const endpoint = await newEndpoint({ headers });
  await publish({});
  const { headers: sent } = await receiver.waitFor(() => true);
  assert.deepEqual([sent["x-team"], sent.authorization], ["blue", "Bearer very-private"]);
  const shown = (await read(endpoint)).settings.headers;
  assert.deepEqual(shown, [
    { name: "X-Team", value: "blue", secret: false },
    { name: "Authorization", value: null, secret: true },
  ]);
  const stored = "select e::text as t from endpoints e union all select c::text from endpoint_credentials c";
  const events = await delivery.eventsOf(who.accountId, 1);
  assert.ok(!JSON.stringify([(await run(stored)).rows, events, delivery.context.logged]).includes("very-private"));

  assert.equal((await patch(endpoint, { headers: shown })).status, 200, "what was read can be written");
  receiver.clear();
  await publish({});
  assert.equal((await receiver.waitFor(() => true)).headers.authorization, "Bearer very-private");
  const other = await patch(endpoint, { headers: [{ name: "authorization", value: "Bearer other", secret: true }] });
  assert.notEqual(other.body.updated_at, endpoint.id);
  receiver.clear();
  await publish({});
  const { headers: changed } = await receiver.waitFor(() => true);
  assert.deepEqual([changed.authorization, changed["x-team"]], ["Bearer other", undefined]);
  await patch(endpoint, { headers: null });
  assert.equal((await run("select 1 from endpoint_credentials where endpoint_id = $1", [endpoint.id])).rowCount, 0);
});

test("a reserved header, and a secret one without a value, are 422", async () => {
  for (const header of [
    ...["Host", "Connection", "Content-Type", "content-length", "Transfer-Encoding", "TE"].map((name) => ({ name })),
    ...["Webhook-Id", "X-Signature", "x-delivery-id", "X-Timestamp", "Stripe-Signature"].map((name) => ({ name })),
    ...[{ name: "Bad Name" }, { name: "X-A", value: "line\nfeed" }, { name: "X-A", value: null, secret: true }],
  ]) {
    const body = { url: receiver.url, event_types: ["order.*"], settings: { headers: [{ value: "x", ...header }] } };
    const { status } = await delivery.send(who, "POST", endpointsPath, { body });
    assert.equal(status, 422, JSON.stringify(header));
  }
  const headers = ["X-A", "x-a"].map((name) => ({ name, value: "1" }));
  const twice = { url: receiver.url, event_types: ["order.*"], settings: { headers } };
  assert.equal((await delivery.send(who, "POST", endpointsPath, { body: twice })).status, 422);
});

test("an endpoint gets the requested version of its events, and an unknown version is 422", async () => {
  const endpoint = await newEndpoint({ api_version: "v1" });
  assert.equal((await read(endpoint)).settings.api_version, "v1");
  await publish({});
  assert.equal(JSON.parse((await receiver.waitFor(() => true)).body.toString()).api_version, "v1");
  const refused = await patch(endpoint, { api_version: "v9" });
  assert.deepEqual([refused.status, refused.body.error.field], [422, "settings.api_version"]);
});

test("metadata merge by member and are not sent", async () => {
  const endpoint = await newEndpoint({ metadata: { team: "blue", tier: "1" } });
  await patch(endpoint, { metadata: { tier: null, owner: "Ada" } });
  assert.deepEqual((await read(endpoint)).settings.metadata, { team: "blue", owner: "Ada" });
  await publish({});
  assert.doesNotMatch(JSON.stringify((await receiver.waitFor(() => true)).rawHeaders), /blue/);
});

test("the libraries of Standard Webhooks, Svix, Stripe and GitHub verify a delivery, and refuse a changed byte", async () => {
  const { secret } = await newEndpoint({ signatures: ["stripe", "github"] });
  await publish({ text: "naïve ✓" });
  const request = await receiver.waitFor(() => true);
  const body = request.body.toString();
  const given = Object.fromEntries(
    ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => [name, textOf(request, name)]),
  );
  const stripe = new Stripe("sk_test_none");
  const checks: [string, (text: string) => unknown][] = [
    ["standardwebhooks", (text) => new StandardWebhook(secret).verify(text, given)],
    ["svix", (text) => new SvixWebhook(secret).verify(text, given)],
    ["stripe", (text) => stripe.webhooks.constructEvent(text, textOf(request, "stripe-signature"), secret)],
  ];
  for (const [name, check] of checks) {
    assert.doesNotThrow(() => check(body), name);
    assert.throws(() => check(body.replace("naïve", "naive")), name);
  }
  const hub = textOf(request, "x-hub-signature-256");
  assert.equal(await verifyGithub(secret, body, hub), true);
  assert.equal(await verifyGithub(secret, `${body} `, hub), false);
});

test("v1a signatures verify with the public keys, with all of them while a rotation overlaps", async () => {
  const keysOf = async () =>
    (
      (await (await fetch(`${delivery.url}/api/v1/webhooks/keys?account_id=${who.accountId}`)).json()) as {
        items: { id: string; public_key: string }[];
      }
    ).items;
  assert.deepEqual(await keysOf(), []);
  await newEndpoint({ signatures: ["v1a"] });
  await publish({ number: 1 });
  const first = await receiver.waitFor(() => true);
  const [key] = await keysOf();
  assert.equal(await verifiedByKey(first, key?.public_key ?? ""), true);
  const rotated = await delivery.send(who, "POST", "/api/v1/webhooks/keys/rotate", { body: {} });
  assert.equal(rotated.status, 200, rotated.text);
  const keys = await keysOf();
  assert.deepEqual(
    keys.map(({ id }: { id: string }) => id),
    [rotated.body.id, key?.id],
  );
  receiver.clear();
  await publish({ number: 2 });
  const second = await receiver.waitFor(() => true);
  for (const { public_key } of keys) assert.equal(await verifiedByKey(second, public_key), true);
  assert.equal(await verifiedByKey({ ...second, body: Buffer.from("{}") }, key?.public_key ?? ""), false);
  const rotate = (overlap_seconds: number) =>
    delivery.send(who, "POST", "/api/v1/webhooks/keys/rotate", { body: { overlap_seconds } });
  for (let count = 0; count < 3; count++) await rotate(600);
  assert.equal((await rotate(600)).status, 409, "five keys at most");
  const { body: last } = await rotate(0);
  assert.deepEqual(
    (await keysOf()).map(({ id }) => id),
    [last.id],
    "without an overlap every older key ends",
  );
  const stored = JSON.stringify((await run("select k::text as t from signing_keys k")).rows);
  assert.doesNotMatch(stored, /whsk_/);
});

/** Verifies as a receiver does with a public key, by node:crypto alone. */
async function verifiedByKey({ headers, body }: ReceivedRequest, publicKey: string): Promise<boolean> {
  const raw = Buffer.from(publicKey.replace("whpk_", ""), "base64");
  const key = await crypto.subtle.importKey("raw", raw, "Ed25519", true, ["verify"]);
  const message = Buffer.concat([Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`), body]);
  const signatures = String(headers["webhook-signature"])
    .split(" ")
    .filter((one) => one.startsWith("v1a,"));
  const results = signatures.map((one) =>
    crypto.subtle.verify("Ed25519", key, Buffer.from(one.slice(4), "base64"), new Uint8Array(message)),
  );
  return (await Promise.all(results)).includes(true);
}

test("an endpoint for originals gets a partner's webhook as the partner sent it, and other events as ever", async () => {
  const { secret } = await newEndpoint({ format: "original", signatures: ["stripe"] });
  await delivery.publish(
    draft("webhook.received", {
      subject: "src_1",
      accountId: who.accountId,
      data: {
        ...eventOf("webhook.received").example,
        headers: { "content-type": "application/vnd.shop+json", "x-shop": "17" },
        payload: { amount: 1.5, nested: [{ payload: "}" }] },
      },
    }),
  );
  const original = await receiver.waitFor(() => true);
  assert.equal(original.body.toString(), '{"amount":1.5,"nested":[{"payload":"}"}]}');
  assert.deepEqual([original.headers["content-type"], original.headers["x-shop"]], ["application/vnd.shop+json", "17"]);
  const stripe = new Stripe("sk_test_none");
  stripe.webhooks.constructEvent(original.body, textOf(original, "stripe-signature"), secret);
  await publish({ own: true });
  const own = await receiver.waitFor(({ headers }) => headers["x-event-type"] === "order.created");
  assert.deepEqual(dataOf(own), { own: true });
});

test("a client certificate is checked on write, shown without its key, and nothing goes out without it", async () => {
  const certificates = await createCertificates();
  const [certificate, key] = await Promise.all(
    [certificates.certFile, certificates.keyFile].map((file) => readFile(file, "utf8")),
  );
  const other = await certificates.issue("other");
  const otherKey = await readFile(other.keyFile, "utf8");
  await certificates.remove();
  const body = { url: receiver.url, event_types: ["order.*"] };
  for (const wrong of [
    { certificate, key: otherKey },
    { certificate: "x", key },
    { certificate, key: "x" },
  ]) {
    const settings = { client_certificate: wrong };
    const refused = await delivery.send(who, "POST", endpointsPath, { body: { ...body, settings } });
    assert.deepEqual([refused.status, refused.body.error.details[0].field], [422, "settings.client_certificate"]);
  }
  const endpoint = await newEndpoint({ client_certificate: { certificate, key }, retry_schedule_seconds: [0] });
  const { client_certificate: shown } = (await read(endpoint)).settings;
  assert.deepEqual([shown.subject, shown.fingerprint.length], ["CN=localhost", 64]);
  await run("delete from endpoint_credentials where endpoint_id = $1", [endpoint.id]);
  await run("update endpoints set revision = revision + 1 where id = $1", [endpoint.id]);
  await publish({});
  const failed = await eventually(async () => (await delivery.deliveriesOf(who, "&status=exhausted"))[0] ?? null);
  assert.deepEqual([failed.last_error, receiver.requests.length], ["certificate", 0]);
});

test("a receiver that asks for a certificate gets the endpoint's, and its connections are not shared", async () => {
  const certificates = await createCertificates();
  const read = (file: string) => readFile(file, "utf8");
  const ca = await read(certificates.caFile);
  const [one, two] = await Promise.all(
    ["one", "two"].map(async (name) => {
      const { certFile, keyFile } = await certificates.issue(name);
      return { certificate: await read(certFile), key: await read(keyFile) };
    }),
  );
  const tls = { cert: await read(certificates.certFile), key: await read(certificates.keyFile) };
  const server = createServer({ ...tls, ca, requestCert: true, rejectUnauthorized: true }, (request, response) =>
    response.end((request.socket as TLSSocket).getPeerCertificate().subject.CN),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const outbound = createOutboundClient({ allow: ["127.0.0.1:*"], clock: systemClock, certificateAuthorities: [ca] });
  const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
  const get = (clientCertificate?: typeof one) =>
    outbound.request({ url, deadlineMs: 30_000, responseBytesMax: 100, clientCertificate });
  for (const [pair, name] of [
    [one, "one"],
    [two, "two"],
    [one, "one"],
  ] as const) {
    assert.equal((await get(pair)).body.toString(), name);
  }
  await assert.rejects(get());
  await outbound.close();
  server.closeAllConnections();
  server.close();
  await certificates.remove();
});
