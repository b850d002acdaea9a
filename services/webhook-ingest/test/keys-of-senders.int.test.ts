import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, before, test } from "node:test";
import { createOidcIssuer, eventually, type OidcIssuer, testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";

let [ingest, partner]: [Harness, OidcIssuer] = [] as never;
before(async () => {
  partner = await createOidcIssuer({ audience: "hub" });
  const allow = `127.0.0.1:${new URL(partner.issuer).port}`;
  ingest = await startIngest({ "webhook-ingest.outbound.allow": allow });
});
after(async () => {
  await ingest.close();
  await partner.close();
});

type Person = ReturnType<typeof testPerson>;
const jwtSource = (settings: object = {}) => ({
  scheme: "jwt",
  secret: `${partner.issuer}/keys`,
  settings: { issuer: partner.issuer, audience: "hub", ...settings },
});
const webhookWith = (
  token: string,
  body: string = JSON.stringify({ id: crypto.randomUUID(), type: "order.created" }),
) => ({
  headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
  body,
});
const reasonsOf = async (who: Person, { id }: { id: string }, count: number): Promise<string[]> =>
  eventually(async () => {
    const { body } = await ingest.send(who, "GET", `${sourcesPath}/${id}/rejections`);
    return body.items.length >= count && body.items.map(({ reason }: { reason: string }) => reason);
  });
const asksForKeys = () => partner.requests.filter((path) => path === "/keys").length;

test("a token of the partner's key set lets its webhook in, and no wrong one does", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, jwtSource());
  assert.equal((await ingest.post(source, webhookWith(partner.sign()))).status, 202);
  const { body } = await ingest.send(who, "GET", `${sourcesPath}/${source.id}/received`);
  assert.equal(body.items[0].delivery_id_signed, false, "the token does not cover the body");
  const { unsigned, foreignKey, confused, expired, tampered, truncated } = partner.wrong;
  const wrong = [unsigned, foreignKey, confused, expired, tampered, truncated].map((make) => make());
  for (const token of [...wrong, partner.sign({ aud: "another" }), partner.sign({ iss: "https://other.example" })]) {
    assert.equal((await ingest.post(source, webhookWith(token))).status, 401, token);
  }
  const reasons = await reasonsOf(who, source, wrong.length + 2);
  assert.deepEqual(reasons.slice(0, 2), ["issuer_mismatch", "audience_mismatch"]);
  assert.equal(asksForKeys(), 1, "the keys were read once");
});

test("a claim for the body covers it, with its time: a captured webhook has one effect", async () => {
  const who = testPerson();
  const source = await ingest.newSource(
    who,
    jwtSource({ body_digest_claim: "digest", body_digest_encoding: "base64url" }),
  );
  const body = '{"id":"d-1","type":"order.created"}';
  const token = partner.sign({ digest: hash("sha256", body, "buffer").toString("base64url") });
  for (const status of [202, 202]) assert.equal((await ingest.post(source, webhookWith(token, body))).status, status);
  assert.equal((await ingest.post(source, webhookWith(token, body.replace("d-1", "d-2")))).status, 401);
  const { body: list } = await ingest.send(who, "GET", `${sourcesPath}/${source.id}/received`);
  assert.deepEqual(
    list.items.map(({ delivery_id_signed: isSigned }: { delivery_id_signed: boolean }) => isSigned),
    [true],
  );
  const [event] = await ingest.eventsOf(who.accountId, 1, "webhook.received");
  assert.ok(!JSON.stringify(event).includes(token), "no token in an event");
});

test("new keys of a partner are found without help, and while they cannot be read the partner is asked to try again", async () => {
  const moved = await createOidcIssuer({ audience: "hub" });
  const allow = ["database.url", "events.url"].map((name) => [
    name,
    ingest.context.configuration.get(name as "events.url"),
  ]);
  const other = await startIngest({
    ...Object.fromEntries(allow),
    "webhook-ingest.outbound.allow": `127.0.0.1:${new URL(moved.issuer).port}`,
  });
  try {
    const settings = { issuer: moved.issuer, audience: "hub" };
    const source = await other.newSource(testPerson(), { scheme: "jwt", secret: `${moved.issuer}/keys`, settings });
    moved.fail(503);
    const away = await other.post(source, webhookWith(moved.sign()));
    assert.deepEqual([away.status, away.headers.get("retry-after")], [503, "30"]);
    assert.equal((await other.post(source, webhookWith("no.token.this"))).status, 401);
    moved.fail(null);
    await eventually(async () => assert.equal((await other.post(source, webhookWith(moved.sign()))).status, 202));
    moved.fail(503);
    assert.equal((await other.post(source, webhookWith(moved.sign()))).status, 202, "the keys last read verify");
  } finally {
    await other.close();
    await moved.close();
  }
});

test("a key set, and an address that is not public, are checked on write", async () => {
  const who = testPerson();
  const create = (body: object) => ingest.send(who, "POST", sourcesPath, { body: { name: "Shop", ...body } });
  for (const secret of [
    "http://10.0.0.1/keys",
    "https://169.254.169.254/keys",
    "http://partner.example/keys",
    "a secret of 16 bytes",
  ]) {
    const { status, body } = await create({ ...jwtSource(), secret });
    assert.deepEqual([status, body.error.details?.[0]?.field], [422, "secret"], secret);
  }
  for (const settings of [{ audience: null }, { issuer: null }, { token_format: "basic" }, { algorithm: "sha512" }]) {
    const { status } = await create({ ...jwtSource(), settings: { ...jwtSource().settings, ...settings } });
    assert.equal(status, 422, JSON.stringify(settings));
  }
});

test("a webhook with Microsoft's clientState in every notification is taken, and no other", async () => {
  const who = testPerson();
  const secret = "a client state of our own";
  const source = await ingest.newSource(who, { preset: "microsoft-graph", secret });
  const webhook = (...states: unknown[]) => ({
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ value: states.map((clientState) => ({ clientState, changeType: "created" })) }),
  });
  assert.equal((await ingest.post(source, webhook(secret, secret))).status, 202);
  for (const states of [[], ["another client state"], [secret, "another"], [secret, null]])
    assert.equal((await ingest.post(source, webhook(...states))).status, 401, JSON.stringify(states));
  assert.deepEqual((await reasonsOf(who, source, 4)).toReversed(), [
    ...["token_missing", "token_mismatch", "token_mismatch", "token_missing"],
  ]);
  const [event] = await ingest.eventsOf(who.accountId, 1, "webhook.received");
  assert.equal((event?.data as { event_type?: string } | undefined)?.event_type, "created");
});
