import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { draft } from "@signalbox/contracts";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { secrets, sign } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest({ "webhook-ingest.rejections.max": 10 });
});
after(() => ingest.close());

const hmac = { scheme: "hmac", secret: secrets.hmac };
const receivedOf = async (who: ReturnType<typeof testPerson>, { id }: { id: string }) =>
  (await ingest.send(who, "GET", `${sourcesPath}/${id}/received`)).body.items;
const dataOf = async (accountId: string) =>
  (await ingest.eventsOf(accountId, 1, "webhook.received")).map(({ data }) => data as Record<string, unknown>);

test("a repeated delivery id is 202 again, with one row and one event", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const webhook = sign("hmac", { id: "d-1" });
  for (let count = 0; count < 3; count++) assert.equal((await ingest.post(source, webhook)).status, 202);
  assert.equal((await ingest.post(source, sign("hmac", { id: "d-1", ageSeconds: 5 }))).status, 202);
  assert.equal((await receivedOf(who, source)).length, 1);
  await ingest.post(source, sign("hmac", { id: "d-2" }));
  const events = await ingest.eventsOf(who.accountId, 2, "webhook.received");
  assert.deepEqual(
    events.map(({ data }) => (data as { delivery_id: string }).delivery_id),
    ["d-1", "d-2"],
  );
});

test("twenty repetitions at once have one effect", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const webhook = sign("hmac", { id: "once" });
  const answers = await Promise.all(Array.from({ length: 20 }, () => ingest.post(source, webhook)));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
  assert.equal((await receivedOf(who, source)).length, 1);
  await ingest.post(source, sign("hmac", { id: "after" }));
  assert.equal((await ingest.eventsOf(who.accountId, 2, "webhook.received")).length, 2);
});

test("the same delivery id at two sources is two deliveries", async () => {
  const who = testPerson();
  for (const source of [await ingest.newSource(who, hmac), await ingest.newSource(who, hmac)]) {
    assert.equal((await ingest.post(source, sign("hmac", { id: "d-1" }))).status, 202);
    assert.equal((await receivedOf(who, source)).length, 1);
  }
});

test("a body over the limit is 413, announced or chunked, and one at the limit is taken", async () => {
  const source = await ingest.newSource(testPerson(), hmac);
  const limit = ingest.context.configuration.get("limits.maxWebhookBytes");
  const bodyOf = (bytes: number) => `"${"x".repeat(bytes - 2)}"`;
  assert.equal((await ingest.post(source, sign("hmac", { body: bodyOf(limit) }))).status, 202);
  const tooLarge = sign("hmac", { body: bodyOf(limit + 1) });
  const answer = await ingest.post(source, tooLarge);
  assert.deepEqual([answer.status, answer.body.error.code], [413, "payload_too_large"]);
  assert.equal(await postChunked(source.ingest_path, tooLarge), 413);
});

function postChunked(path: string, { headers, body }: ReturnType<typeof sign>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(ingest.url + path, {
      method: "POST",
      headers: { ...headers, "transfer-encoding": "chunked" },
    });
    sent.on("response", (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
    sent.write(body);
    sent.end();
  });
}

test("a body other than JSON travels as text or bytes", async () => {
  for (const [type, body, expected] of [
    ["text/plain", "plain \u0000 text", { payload_text: "plain \u0000 text" }],
    ["application/x-www-form-urlencoded", "a=1&b=2", { payload_text: "a=1&b=2" }],
    ["application/octet-stream", Buffer.from([0, 255, 1]), { payload_base64: "AP8B" }],
  ] as const) {
    const who = testPerson();
    const source = await ingest.newSource(who, hmac);
    const { headers } = sign("hmac", { body });
    const answer = await ingest.post(source, { body, headers: { ...headers, "content-type": type } });
    assert.equal(answer.status, 202);
    const { payload_text, payload_base64, payload } = (await dataOf(who.accountId))[0] ?? {};
    assert.deepEqual(JSON.parse(JSON.stringify({ payload_text, payload_base64, payload })), expected);
  }
});

test("a paused source answers 503 with Retry-After, and accepts deliveries again afterwards", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const path = `${sourcesPath}/${source.id}`;
  await ingest.send(who, "PATCH", path, { body: { status: "paused" } });
  const answer = await ingest.post(source, sign("hmac"));
  assert.equal(answer.status, 503);
  assert.ok(Number(answer.headers.get("retry-after")) > 0);
  await ingest.send(who, "PATCH", path, { body: { status: "active" } });
  assert.equal((await ingest.post(source, sign("hmac"))).status, 202);
});

test("the sources of a suspended account accept nothing until it is active again", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  for (const [state, status] of [
    ["suspended", 503],
    ["active", 202],
    ["deleted", 503],
  ] as const) {
    await ingest.changeState(who.accountId, state);
    await eventually(async () => (await ingest.post(source, sign("hmac"))).status === status);
  }
});

test("an unknown source is 404", async () => {
  for (const id of ["src_unknown", "src_%00", "x".repeat(65)]) {
    assert.equal((await ingest.post({ ingest_path: `/ingest/${id}` }, sign("hmac"))).status, 404, id);
  }
});

test("deliveries with U+0000 and lone surrogates in ids, types and payloads are accepted", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { scheme: "stripe", secret: secrets.stripe });
  const body = String.raw`{"id":"d\u0000\ud800","type":"t\u0000\udfff","text":"\u0000 \ud83d","__proto__":{"a":1}}`;
  for (let count = 0; count < 2; count++) {
    assert.equal((await ingest.post(source, sign("stripe", { body }))).status, 202);
  }
  const [item] = await receivedOf(who, source);
  assert.deepEqual([item.delivery_id, item.event_type], ["d\ufffd\ufffd", "t\ufffd\ufffd"]);
  const [data] = await dataOf(who.accountId);
  assert.equal(JSON.stringify(data?.payload), JSON.stringify(JSON.parse(body)));
});

test("a text that JSON would grow too large travels as base 64", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const body = "\u0001".repeat(500_000);
  const { headers } = sign("hmac", { body });
  assert.equal(
    (await ingest.post(source, { body, headers: { ...headers, "content-type": "text/plain" } })).status,
    202,
  );
  const [data] = await dataOf(who.accountId);
  assert.equal(data?.payload_base64, Buffer.from(body).toString("base64"));
});

test("a delivery is accepted with any Accept header", async () => {
  const source = await ingest.newSource(testPerson(), hmac);
  for (const accept of ["application/json", "image/png", "text/html;q=0"]) {
    const { headers, body } = sign("hmac");
    assert.equal((await ingest.post(source, { body, headers: { ...headers, accept } })).status, 202, accept);
  }
});

test("the newest rejections of each source are kept, up to the limit", async () => {
  const [noisy, quiet] = [testPerson(), testPerson()];
  const [source, other] = [await ingest.newSource(noisy, hmac), await ingest.newSource(quiet, hmac)];
  const wrong = { headers: {}, body: "{}" };
  for (const each of [other, source]) {
    await ingest.pool.query(
      {
        name: "",
        text: `insert into rejections select 'rej_' || $1 || n, $1, 'old', 401, 2, '::1', now() - n * interval '1 hour'
          from generate_series(1, 10) as n`,
      },
      [each.id],
    );
  }
  for (let count = 0; count < 3; count++) assert.equal((await ingest.post(source, wrong)).status, 401);
  await eventually(async () => {
    const reasons = (await rejectionsOf(noisy, source)).map(({ reason }: { reason: string }) => reason);
    assert.deepEqual(reasons, [...Array(3).fill("timestamp_missing"), ...Array(7).fill("old")]);
  });
  assert.equal((await rejectionsOf(quiet, other)).length, 10);
});

const rejectionsOf = async (who: ReturnType<typeof testPerson>, { id }: { id: string }) =>
  (await ingest.send(who, "GET", `${sourcesPath}/${id}/rejections`)).body.items;

test("a purged account leaves no source behind", async () => {
  const [who, other] = [testPerson(), testPerson()];
  const [source, kept] = [await ingest.newSource(who, hmac), await ingest.newSource(other, hmac)];
  const now = new Date().toISOString();
  const data = { id: who.accountId, created_at: now, deleted_at: now, changed: [] };
  await ingest.publish(draft("account.deleted", { subject: who.accountId, accountId: who.accountId, data }));
  await eventually(async () => (await ingest.post(source, sign("hmac"))).status === 404);
  assert.equal((await ingest.post(kept, sign("hmac"))).status, 202);
  const [deleted] = await ingest.eventsOf(who.accountId, 1, "webhook_source.deleted");
  assert.equal(deleted?.subject, source.id);
});

test("while integrations are off every method is asked to come again", async () => {
  const off = await startIngest({ "features.integrations": "disabled" });
  for (const method of ["POST", "GET", "HEAD", "OPTIONS"]) {
    const answer = await fetch(`${off.url}/ingest/src_none`, { method });
    assert.deepEqual([method, answer.status, answer.headers.get("retry-after")], [method, 503, "300"]);
  }
  await off.close();
});
