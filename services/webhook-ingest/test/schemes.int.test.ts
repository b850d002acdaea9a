import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { type Scheme, schemes, secrets, sign } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

const newSource = (scheme: Scheme, who = testPerson()) => ingest.newSource(who, { scheme, secret: secrets[scheme] });

/** Reasons kept for a source, newest first, once `count` exist. */
async function reasons(who: ReturnType<typeof testPerson>, id: string, count: number): Promise<string[]> {
  return eventually(async () => {
    const { body } = await ingest.send(who, "GET", `${sourcesPath}/${id}/rejections`);
    return body.items.length >= count && body.items.map(({ reason }: { reason: string }) => reason);
  });
}

for (const scheme of schemes) {
  test(`${scheme}: a valid signature is stored, shown and published; a forged or missing one is 401, and the owner sees the reason`, async () => {
    const who = testPerson();
    const source = await newSource(scheme, who);
    const right = sign(scheme, { id: "d-1", type: "order.created" });
    const answer = await ingest.post(source, right);
    assert.deepEqual([answer.status, answer.text], [202, ""]);
    const [event] = await ingest.eventsOf(who.accountId, 1, "webhook.received");
    const data = (event?.data ?? {}) as Record<string, unknown>;
    assert.equal(event?.subject, source.id);
    assert.equal(data.scheme, scheme);
    assert.equal(data.event_type, "order.created");
    assert.match(String(data.delivery_id), /^d-1/);
    assert.deepEqual([data.forward, event?.extensions], [undefined, undefined]);
    assert.equal((data.headers as Record<string, string>)["content-type"], "application/json");
    assert.ok("payload" in data && !("payload_text" in data) && !("payload_base64" in data));

    const unsigned = Object.entries(right.headers).filter(([name]) => !/signature|sha256/.test(name));
    for (const webhook of [
      { ...right, body: `${right.body} ` },
      { ...right, headers: Object.fromEntries(unsigned) },
    ]) {
      const refused = await ingest.post(source, webhook);
      assert.deepEqual([refused.status, refused.body.error.code], [401, "unauthorized"]);
      assert.ok(refused.headers.get("www-authenticate"));
      assert.ok(!refused.text.includes("mismatch"), "which part was wrong is for the owner alone");
    }
    assert.deepEqual(await reasons(who, source.id, 2), ["signature_missing", "signature_mismatch"]);
    const { body } = await ingest.send(who, "GET", `${sourcesPath}/${source.id}/received`);
    assert.deepEqual(
      body.items.map((item: Record<string, unknown>) => [item.delivery_id, item.event_type]),
      [[data.delivery_id, "order.created"]],
    );
  });
}

test("a signed time outside the tolerance is 401 both ways, and inside it is accepted", async () => {
  const who = testPerson();
  const source = await newSource("hmac", who);
  for (const ageSeconds of [310, -310]) {
    assert.equal((await ingest.post(source, sign("hmac", { ageSeconds }))).status, 401);
  }
  for (const ageSeconds of [290, -290]) {
    assert.equal((await ingest.post(source, sign("hmac", { ageSeconds }))).status, 202);
  }
  assert.deepEqual((await reasons(who, source.id, 2)).sort(), ["timestamp_in_future", "timestamp_too_old"]);
});

test("the secret of one source verifies at no other", async () => {
  const [own, other] = [
    await newSource("hmac"),
    await ingest.newSource(testPerson(), { scheme: "hmac", secret: "the secret of another shop" }),
  ];
  const webhook = sign("hmac");
  assert.equal((await ingest.post(own, webhook)).status, 202);
  assert.equal((await ingest.post(other, webhook)).status, 401);
});

test("a new secret replaces the old one at once", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { scheme: "hmac", secret: "the old secret of the shop" });
  assert.equal((await ingest.post(source, sign("hmac"))).status, 401);
  await ingest.send(who, "PATCH", `${sourcesPath}/${source.id}`, { body: { secret: secrets.hmac } });
  assert.equal((await ingest.post(source, sign("hmac"))).status, 202);
});

test("the settings of hmac name the places of the sender's data", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, {
    scheme: "hmac",
    secret: secrets.hmac,
    settings: {
      pairs: { time_key: "t", signature_key: "v1" },
      signature_header: "X-Acme-Signature",
      delivery_id_header: "X-Acme-Id",
      event_type_header: "X-Acme-Event",
    },
  });
  const { body, headers } = sign("stripe", { body: '{"amount":1}' });
  const time = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", secrets.hmac).update(`${time}.${body}`).digest("hex");
  const answer = await ingest.post(source, {
    body,
    headers: {
      "content-type": headers["content-type"] as string,
      "x-acme-signature": `t=${time},v1=${signature}`,
      "x-acme-id": "a-1",
      "x-acme-event": "paid",
    },
  });
  assert.equal(answer.status, 202);
  const [event] = await ingest.eventsOf(who.accountId, 1, "webhook.received");
  const { delivery_id, event_type } = (event?.data ?? {}) as Record<string, unknown>;
  assert.deepEqual([delivery_id, event_type], ["a-1", "paid"]);
});

test("Slack gets its challenge back, when it is signed", async () => {
  const source = await newSource("slack");
  const body = JSON.stringify({ type: "url_verification", challenge: "3eZbrw1aBm2rZgRNFdxV" });
  const answer = await ingest.post(source, sign("slack", { body }));
  assert.deepEqual([answer.status, answer.text], [200, "3eZbrw1aBm2rZgRNFdxV"]);
  assert.match(answer.headers.get("content-type") ?? "", /^text\/plain/);
  assert.equal((await ingest.post(source, { ...sign("slack"), body })).status, 401);
});
