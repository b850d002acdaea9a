import assert from "node:assert/strict";
import { createHmac, hash } from "node:crypto";
import { after, before, test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { presets } from "@signalbox/webhook-signatures";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

type Person = ReturnType<typeof testPerson>;
type Source = { readonly id: string; readonly ingest_path: string };
const json = { "content-type": "application/json" };
const secret = "a-secret-of-at-least-sixteen-bytes";
const create = (body: object, who: Person = testPerson()) => ingest.newSource(who, { secret, ...body });
const listOf = async (who: Person, { id }: Source, list: "received" | "rejections") =>
  (await ingest.send(who, "GET", `${sourcesPath}/${id}/${list}`)).body.items;
const post = (path: string, content: unknown, headers: Record<string, string> = {}) =>
  ingest.post({ ingest_path: path }, { headers: { ...json, ...headers }, body: JSON.stringify(content) });
const statusOf = async (...given: Parameters<typeof post>) => (await post(...given)).status;

test("an unsigned webhook is received at the address with the secret behind it alone", async () => {
  const who = testPerson();
  const source = await create({ preset: "unsigned" }, who);
  const { ingest_path: path } = source;
  for (const wrong of [path, `${path}/`, `${path}/another-secret-of-somebody`, `${path}?token=${secret}`])
    assert.ok([401, 404].includes(await statusOf(wrong, { n: 1 })), wrong);
  assert.equal(await statusOf(`${path}/${secret}?from=form`, { n: 1 }), 200);
  assert.equal(await statusOf(`/ingest/src_unknown/${secret}`, { n: 1 }), 404);
  assert.equal((await listOf(who, source, "received")).length, 1);
  const view = await ingest.send(who, "GET", `${sourcesPath}/${source.id}`);
  assert.ok(!view.text.includes(secret));
  const logged = JSON.stringify(ingest.context.logged);
  assert.ok(logged.includes(`${path}/******`));
  assert.ok(!logged.includes(secret));
});

test("a secret may stand in a parameter of the query, once", async () => {
  const { ingest_path: path } = await create({ preset: "unsigned", settings: { token_from: { query: "token" } } });
  const statuses = [];
  for (const query of [`token=${secret}`, "token=wrong", "", `token=${secret}&token=${secret}`, `other=${secret}`])
    statuses.push(await statusOf(`${path}?${query}`, { n: 1 }));
  assert.deepEqual(statuses, [200, 401, 401, 401, 401]);
});

test("Event Grid gets its validation code back when it knows the code of the source", async () => {
  const { ingest_path: path } = await create({ preset: "azure-event-grid" });
  const eventType = "Microsoft.EventGrid.SubscriptionValidationEvent";
  const question = [{ id: "1", eventType, data: { validationCode: "512d38b6-c7b8-40c8-89fe-f46f9e9622b6" } }];
  const answer = await post(`${path}?code=${secret}`, question);
  assert.deepEqual([answer.status, answer.body], [200, { validationResponse: "512d38b6-c7b8-40c8-89fe-f46f9e9622b6" }]);
  assert.equal(await statusOf(`${path}?code=wrong`, question), 401);
});

test("monday.com is answered with its challenge", async () => {
  const who = testPerson();
  const source = await create({ preset: "monday" }, who);
  const path = `${source.ingest_path}/${secret}`;
  assert.deepEqual((await post(path, { challenge: "3eZbrw1aBm2rZgRNFdxV" })).body, {
    challenge: "3eZbrw1aBm2rZgRNFdxV",
  });
  assert.equal(await statusOf(path, { event: { type: "create_pulse", triggerUuid: "u-1" } }), 200);
  const [received] = await listOf(who, source, "received");
  assert.deepEqual([received.delivery_id, received.event_type], ["u-1", "create_pulse"]);
});

test("Asana's handshake gets its secret back, which the owner finds among the rejections", async () => {
  const who = testPerson();
  const source = await create({ preset: "asana" }, who);
  const offered = "b537207f20cbfa02357cf448134da559";
  const { status, headers } = await post(source.ingest_path, {}, { "x-hook-secret": offered });
  assert.deepEqual([status, headers.get("x-hook-secret")], [200, offered]);
  const rejection = await eventually(async () => (await listOf(who, source, "rejections"))[0] ?? null);
  assert.equal(rejection.reason, "secret_offered");
  const { body } = await ingest.send(who, "GET", `${sourcesPath}/${source.id}/rejections/${rejection.id}`);
  assert.equal(Buffer.from(body.body_base64, "base64").toString(), offered);
  await ingest.send(who, "POST", `${sourcesPath}/${source.id}/secret/rotate`, { body: { secret: offered } });
  const events = { events: [{ action: "changed" }] };
  const signature = createHmac("sha256", offered).update(JSON.stringify(events)).digest("hex");
  assert.equal(await statusOf(source.ingest_path, events, { "x-hook-signature": signature }), 200);
  const { ingest_path: other } = await create({ preset: "linear" });
  assert.equal(await statusOf(other, {}, { "x-hook-secret": offered }), 401);
});

/** Signs claims as Netlify and Vonage do, with a shared secret. */
function sharedToken(claims: object, alg = "HS256"): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg, typ: "JWT" })}.${part(claims)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

test("Netlify's token of a shared secret binds the body, without a time", async () => {
  const { ingest_path: path } = await create({ preset: "netlify" });
  const deploy = { id: "d-1", state: "ready" };
  const right = { iss: "netlify", sha256: hash("sha256", JSON.stringify(deploy)) };
  const statuses = [];
  for (const token of [
    sharedToken(right),
    sharedToken({ ...right, sha256: "0".repeat(64) }),
    sharedToken({ ...right, iss: "somebody" }),
    sharedToken(right, "none"),
    `${sharedToken(right).slice(0, -4)}AAAA`,
  ])
    statuses.push(await statusOf(path, deploy, { "x-webhook-signature": token }));
  assert.deepEqual(statuses, [200, 401, 401, 401, 401]);
});

test("a notification of the App Store counts once, by the id that Apple signed", async () => {
  const who = testPerson();
  const { vector } = presets["app-store"];
  const settings = { audience: "com.example.hub" };
  const source = await create({ preset: "app-store", secret: vector.secret, settings }, who);
  const { signedPayload } = JSON.parse(vector.body);
  const statuses = [];
  for (const content of [
    { signedPayload },
    { signedPayload, more: 1 },
    { signedPayload: signedPayload.slice(0, -1) },
    {},
  ])
    statuses.push(await statusOf(source.ingest_path, content));
  assert.deepEqual(statuses, [200, 200, 401, 401]);
  const [received, ...others] = await listOf(who, source, "received");
  assert.deepEqual([received.event_type, received.delivery_id], ["DID_RENEW", "002e14d5-51f5-4503-b5a8-c3a1af68eb20"]);
  assert.deepEqual([received.delivery_id_signed, received.repeated, others.length], [true, 1, 0]);
});

test("a source of tokens with certificates needs its audience", async () => {
  const { secret: root } = presets["app-store"].vector;
  const refused = async (settings: object) =>
    (
      await ingest.send(testPerson(), "POST", sourcesPath, {
        body: { name: "App", preset: "app-store", secret: root, settings },
      })
    ).body.error.details[0].field;
  assert.equal(await refused({}), "settings.audience");
  assert.equal(await refused({ audience: "app", certificate_oids: ["apple"] }), "settings.certificate_oids[0]");
});

test("a published key set never becomes a shared secret", async () => {
  const who = testPerson();
  const settings = { issuer: "https://partner.example", audience: "hub" };
  const keys = "https://partner.example/jwks.json";
  const source = await create({ scheme: "jwt", secret: keys, settings }, who);
  const path = `${sourcesPath}/${source.id}`;
  const changed = await ingest.send(who, "PATCH", path, { body: { settings: { token_key: "secret" } } });
  assert.deepEqual([changed.status, changed.body.error.details[0].field], [422, "secret"]);
});

test("Vonage's token is refused once its time is old", async () => {
  const { ingest_path: path } = await create({ preset: "vonage" });
  const message = { message_uuid: "m-1", status: "delivered" };
  const tokenAt = (iat: number) =>
    sharedToken({ iat, jti: "j", iss: "Vonage", payload_hash: hash("sha256", JSON.stringify(message)) });
  const now = Math.floor(Date.now() / 1_000);
  const send = (iat: number) => statusOf(path, message, { authorization: `Bearer ${tokenAt(iat)}` });
  assert.deepEqual([await send(now - 900), await send(now)], [401, 200]);
});

test("Mercado Pago's signature covers the id in the query, also behind a public_url", async () => {
  const who = testPerson();
  const source = await create({ preset: "mercado-pago", settings: { public_url: "https://hub.example/pay" } }, who);
  const payment = { id: "n-1", action: "payment.updated", data: { id: "ORD01" } };
  const ts = String(Date.now());
  const manifest = `id:ord01;request-id:r-1;ts:${ts};`;
  const signature = `ts=${ts},v1=${createHmac("sha256", secret).update(manifest).digest("hex")}`;
  const send = (query: string) =>
    statusOf(`${source.ingest_path}?${query}`, payment, { "x-request-id": "r-1", "x-signature": signature });
  assert.deepEqual(
    [await send("data.id=ORD02&type=payment"), await send("type=payment"), await send("data.id=ORD01&type=payment")],
    [401, 401, 200],
  );
  const [received] = await listOf(who, source, "received");
  assert.deepEqual([received.delivery_id, received.event_type], ["n-1", "payment.updated"]);
});
