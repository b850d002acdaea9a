import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { secrets, sign } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest({
    "webhook-ingest.refusals.unknown-sources": 5,
    "webhook-ingest.refusals.failed-verifications": 5,
  });
});
after(() => ingest.close());

const hmac = { scheme: "hmac", secret: secrets.hmac };
const itemsOf = async (who: ReturnType<typeof testPerson>, { id }: { id: string }, list: "received" | "rejections") =>
  (await ingest.send(who, "GET", `${sourcesPath}/${id}/${list}`)).body.items;
const dataOf = async (accountId: string, count = 1) =>
  (await ingest.eventsOf(accountId, count, "webhook.received")).map(({ data }) => data as Record<string, unknown>);
/** From another address than the other tests, whose refusals are counted together. */
const from = (address: string) => ({ "x-forwarded-for": address });

test("Slack's slash commands and interactions are taken, by the recipe that Slack publishes", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { scheme: "slack", secret: secrets.slack });
  const command =
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V" +
    "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=" +
    "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN" +
    "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
  const interaction = `payload=${encodeURIComponent('{"type":"block_actions","trigger_id":"13345224609.8534564800"}')}`;
  for (const body of [command, interaction]) {
    const { headers } = sign("slack", { body });
    const form = { ...headers, "content-type": "application/x-www-form-urlencoded" };
    assert.equal((await ingest.post(source, { body, headers: form })).status, 202);
  }
  const [first, second] = await dataOf(who.accountId, 2);
  assert.deepEqual(
    [first?.delivery_id, first?.event_type, (first?.payload as Record<string, string> | undefined)?.user_name],
    ["398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c", "/webhook-collect", "roadrunner"],
  );
  assert.deepEqual([second?.delivery_id, second?.event_type], ["13345224609.8534564800", "block_actions"]);
  assert.deepEqual([first?.payload_text, second?.payload_text], [command, interaction], "the forms as they came");
});

test("a query appended to the address costs no delivery", async () => {
  const source = await ingest.newSource(testPerson(), hmac);
  for (const query of ["?utm=1&utm=2", "?token=abc", "?%zz"]) {
    assert.equal((await ingest.post({ ingest_path: source.ingest_path + query }, sign("hmac"))).status, 202, query);
  }
});

test("a type outside of event_types is counted as filtered", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { ...hmac, event_types: ["pull_request*", "push"] });
  const statuses = [];
  for (const type of ["pull_request", "pull_request_review", "push", "pushed", "issues"]) {
    statuses.push((await ingest.post(source, sign("hmac", { type }))).status);
  }
  assert.deepEqual(statuses, [202, 202, 202, 202, 202]);
  const types = (await itemsOf(who, source, "received")).map(({ event_type }: { event_type: string }) => event_type);
  assert.deepEqual(types, ["push", "pull_request_review", "pull_request"]);
  assert.deepEqual(await itemsOf(who, source, "rejections"), []);
  await eventually(async () => {
    const { body } = await ingest.send(who, "GET", `${sourcesPath}/${source.id}/statistics`);
    const [{ accepted, rejected, filtered }] = body.totals;
    assert.deepEqual([accepted, rejected, filtered], [3, 0, 2]);
  });
});

test("headers name the shop, and no credential is kept", async () => {
  const who = testPerson();
  const settings = { forwarded_headers: ["X-Region"] };
  const source = await ingest.newSource(who, { scheme: "shopify", secret: secrets.shopify, settings });
  const { headers, body } = sign("shopify");
  const more = { "x-shopify-shop-domain": "ada.example", "x-region": "eu", cookie: "c=1", authorization: "Bearer abc" };
  assert.equal((await ingest.post(source, { body, headers: { ...headers, ...more } })).status, 202);
  const [data] = await dataOf(who.accountId);
  const shown = data?.headers as Record<string, string>;
  assert.deepEqual([shown["x-shopify-shop-domain"], shown["x-region"], shown.cookie], ["ada.example", "eu", undefined]);
  const [item] = await itemsOf(who, source, "received");
  const read = (await ingest.send(who, "GET", `${sourcesPath}/${source.id}/received/${item.id}`)).body;
  const { cookie, authorization, "x-shopify-hmac-sha256": signature, "x-region": region } = read.headers;
  assert.deepEqual([cookie, authorization, signature, region], ["******", "******", "******", "eu"]);
});

test("the owner reads the bytes that were signed, digit for digit, and no other account does", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { scheme: "stripe", secret: secrets.stripe });
  const body = '{ "id" : "evt_1", "amount": 12345678901234567890, "rate":1e400, "text":"\\u00e9\\ud83d\\ude00" }';
  assert.equal((await ingest.post(source, sign("stripe", { body }))).status, 202);
  const [item] = await itemsOf(who, source, "received");
  const path = `${sourcesPath}/${source.id}/received/${item.id}`;
  const { links } = (await ingest.send(who, "GET", path)).body;
  const answer = await ingest.send(who, "GET", links.body);
  assert.equal(answer.text, body);
  assert.match(answer.headers.get("content-disposition") ?? "", /^attachment/);
  for (const other of [path, links.body]) {
    assert.equal((await ingest.send(testPerson(), "GET", other)).status, 404);
  }
  assert.equal((await ingest.send(who, "GET", `${sourcesPath}/${source.id}/received/rcv_unknown`)).status, 404);
});

test("an encoded body is decoded within the limit, and the signature covers the bytes that the source names", async () => {
  const who = testPerson();
  const json = '{"id":"d-1","type":"order.created"}';
  const [wire, decoded] = [
    await ingest.newSource(who, hmac),
    await ingest.newSource(who, { ...hmac, settings: { signature_over: "decoded" } }),
  ];
  for (const [coding, body] of [
    ["gzip", gzipSync(json)],
    ["br", brotliCompressSync(json)],
  ] as const) {
    const coded = { "content-encoding": coding };
    const overWire = { body, headers: { ...sign("hmac", { body }).headers, ...coded } };
    const overDecoded = { body, headers: { ...sign("hmac", { body: json }).headers, ...coded } };
    const statuses = [];
    for (const source of [wire, decoded]) {
      for (const webhook of [overWire, overDecoded]) statuses.push((await ingest.post(source, webhook)).status);
    }
    assert.deepEqual(statuses, [202, 401, 401, 202], coding);
  }
  const bomb = gzipSync(Buffer.alloc(20_000_000));
  const large = { body: bomb, headers: { ...sign("hmac", { body: bomb }).headers, "content-encoding": "gzip" } };
  assert.equal((await ingest.post(wire, large)).status, 413);
  const signed = sign("hmac");
  const strange = { ...signed, headers: { ...signed.headers, "content-encoding": "compress" } };
  assert.equal((await ingest.post(wire, strange)).status, 202);
});

test("a body that is too large leaves a rejection", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const body = Buffer.alloc(ingest.context.configuration.get("limits.maxWebhookBytes") + 1, 0x20);
  assert.equal((await ingest.post(source, sign("hmac", { body }))).status, 413);
  await eventually(async () => {
    const [rejection] = await itemsOf(who, source, "rejections");
    assert.deepEqual([rejection?.reason, rejection?.status], ["body_too_large", 413]);
  });
});

test("a stopped source answers success and keeps nothing", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  await ingest.send(who, "PATCH", `${sourcesPath}/${source.id}`, { body: { status: "stopped" } });
  assert.equal((await ingest.post(source, sign("hmac"))).status, 202);
  assert.equal((await ingest.post(source, { ...sign("hmac"), body: "{}" })).status, 401);
  assert.deepEqual(await itemsOf(who, source, "received"), []);
});

test("webhooks to a paused source are refused without an error line, and one line a second tells of them", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  await ingest.send(who, "PATCH", `${sourcesPath}/${source.id}`, { body: { status: "paused" } });
  const posts = 12;
  for (let nth = 0; nth < posts; nth++) {
    const { status, headers } = await ingest.post(source, sign("hmac"));
    assert.deepEqual([status, headers.get("retry-after")], [503, "300"]);
  }
  const lines = ingest.context.logged.filter(({ path }) => path === source.ingest_path);
  assert.ok(lines.length > 0 && lines.length < posts, `${lines.length} lines`);
  assert.deepEqual(new Set(lines.map(({ level }) => level)), new Set(["info"]));
});

test("until a signature is verified a paused or blocked source looks like an unknown one", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const forged = { ...sign("hmac"), body: "{}", headers: { ...sign("hmac").headers, ...from("203.0.113.1") } };
  const unknown = await ingest.post({ ingest_path: "/ingest/src_unknown" }, forged);
  const strange = { ...forged, headers: { ...forged.headers, "content-encoding": "compress" } };
  const outcomeOf = async (webhook = forged) => {
    const { status, body } = await ingest.post(source, webhook);
    return [status, body.error.code, body.error.message];
  };
  await ingest.send(who, "PATCH", `${sourcesPath}/${source.id}`, { body: { status: "paused" } });
  const expected = [404, unknown.body.error.code, unknown.body.error.message];
  for (const webhook of [forged, strange]) assert.deepEqual(await outcomeOf(webhook), expected);
  await ingest.send(who, "PATCH", `${sourcesPath}/${source.id}`, { body: { status: "active" } });
  await ingest.changeState(who.accountId, "suspended");
  await eventually(async () => assert.deepEqual(await outcomeOf(), expected));
});

test("an address that is refused too often is answered unread, and no other is", async () => {
  const source = await ingest.newSource(testPerson(), hmac);
  const forged = { ...sign("hmac"), body: "{}" };
  const statuses = [];
  for (let count = 0; count < 7; count++) statuses.push((await ingest.post(source, forged)).status);
  assert.deepEqual(statuses, [...Array(5).fill(401), 429, 429]);
  const other = await ingest.newSource(testPerson(), hmac);
  assert.equal((await ingest.post(other, sign("hmac"))).status, 202, "the count is of one source and address");
});

test("a source with a rate accepts its rate per second, and forged webhooks do not count", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { ...hmac, settings: { rate: 2 } });
  assert.equal((await ingest.post(source, { ...sign("hmac"), body: "{}" })).status, 401);
  const answers = await Promise.all(Array.from({ length: 12 }, () => ingest.post(source, sign("hmac"))));
  const refused = answers.filter(({ status }) => status === 429);
  assert.ok(refused.length > 0, "twelve at once do not take six seconds");
  assert.ok(answers.some(({ status }) => status === 202));
  for (const { headers } of refused) assert.equal(headers.get("retry-after"), "1");
  await eventually(async () => {
    const { body } = await ingest.send(who, "GET", `${sourcesPath}/${source.id}/rejections`);
    assert.ok(body.items.some(({ reason }: { reason: string }) => reason === "rate_exceeded"));
  });
});

test("a change of the source in another instance counts at once, for acceptance and refusal", async () => {
  const other = await startIngest({
    "database.url": ingest.context.configuration.get("database.url"),
    "events.url": ingest.context.configuration.get("events.url"),
  });
  try {
    const who = testPerson();
    const source = await ingest.newSource(who, { scheme: "hmac", secret: "the former secret of the shop" });
    const signed = (secret: string) => other.post(source, signedWith(secret));
    assert.equal((await signed("the former secret of the shop")).status, 202);
    await ingest.send(who, "PATCH", `${sourcesPath}/${source.id}`, { body: { secret: secrets.hmac } });
    assert.equal((await signed("the former secret of the shop")).status, 401, "the copy in memory lets nobody in");
    assert.equal((await signed(secrets.hmac)).status, 202);
    await ingest.send(who, "DELETE", `${sourcesPath}/${source.id}`);
    assert.equal((await signed(secrets.hmac)).status, 404);
  } finally {
    await other.close();
  }
});

test("a body that does not arrive is 408 and costs the sender its connection", async () => {
  const source = await ingest.newSource(testPerson(), hmac);
  const { port } = new URL(ingest.url);
  const status = await new Promise((resolve, reject) => {
    const headers = { ...sign("hmac").headers, "content-length": 5_000 };
    const slow = request({ port, path: source.ingest_path, method: "POST", headers }, (response) => {
      response.resume();
      resolve([response.statusCode, response.headers.connection]);
    });
    slow.on("error", reject);
    slow.write("{");
  });
  assert.deepEqual(status, [408, "close"]);
});

const signedWith = (secret: string, ageSeconds = 0) => {
  const time = String(Math.floor(Date.now() / 1000) - ageSeconds);
  const body = JSON.stringify({ id: crypto.randomUUID() });
  const digest = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
  const headers = { "content-type": "application/json", "x-timestamp": time, "x-signature": `sha256=${digest}` };
  return { body, headers: { ...headers, ...from("203.0.113.2") } };
};

test("a rotated secret and the former one verify until the overlap ends, three at most", async () => {
  const who = testPerson();
  const names = [
    "the first secret of all",
    "the second one of them",
    "the third one of them",
    "the fourth is too many",
  ];
  const source = await ingest.newSource(who, { scheme: "hmac", secret: names[0] });
  const rotate = (body: object) => ingest.send(who, "POST", `${sourcesPath}/${source.id}/secret/rotate`, { body });
  const verifying = async () => {
    const statuses = [];
    for (const name of names) statuses.push((await ingest.post(source, signedWith(name))).status);
    return statuses;
  };
  assert.equal((await rotate({ secret: names[1], overlap_seconds: 1_000 })).status, 200);
  assert.deepEqual(await verifying(), [202, 202, 401, 401]);
  const { body } = await rotate({ secret: names[2], overlap_seconds: 2_000 });
  assert.equal(body.overlaps_end_at.length, 2);
  const refused = await rotate({ secret: names[3] });
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [409, "too_many"]);
  const shown = await ingest.send(who, "GET", `${sourcesPath}/${source.id}`);
  assert.ok(names.every((name) => !shown.text.includes(name)));

  await ingest.pool.query(
    { name: "", text: "update sources set sealed_former_secrets = null, revision = revision + 1 where id = $1" },
    [source.id],
  );
  await eventually(async () => assert.deepEqual((await verifying()).slice(0, 3), [401, 401, 202]));
});

test("a rotation without overlap ends every former secret, and is never one too many", async () => {
  const who = testPerson();
  const [first = "", ...next] = ["the first secret of all", "the second one of them", "the third one of them"];
  const source = await ingest.newSource(who, { scheme: "hmac", secret: first });
  const rotate = (secret: string, overlap_seconds: number) =>
    ingest.send(who, "POST", `${sourcesPath}/${source.id}/secret/rotate`, { body: { secret, overlap_seconds } });
  for (const secret of next) assert.equal((await rotate(secret, 1_000)).status, 200);
  const { status, body } = await rotate("the fourth ends the others", 0);
  assert.deepEqual([status, body.overlaps_end_at], [200, []]);
  for (const secret of [first, ...next]) assert.equal((await ingest.post(source, signedWith(secret))).status, 401);
  assert.equal((await ingest.post(source, signedWith("the fourth ends the others"))).status, 202);
});

test("a source has a tolerance, a size and an answer of its own", async () => {
  const who = testPerson();
  const settings = { tolerance_seconds: 3_600, max_body_bytes: 100, answer: { status: 200, body: "[accepted]" } };
  const source = await ingest.newSource(who, { ...hmac, settings });
  const old = await ingest.post(source, signedWith(secrets.hmac, 3_000));
  assert.deepEqual([old.status, old.text], [200, "[accepted]"]);
  assert.equal((await ingest.post(source, sign("hmac", { body: `"${"x".repeat(100)}"` }))).status, 413);
  const path = `${sourcesPath}/${source.id}`;
  await ingest.send(who, "PATCH", path, { body: { settings: { answer: { status: 204 } } } });
  assert.equal((await ingest.post(source, sign("hmac"))).status, 204);
  const bad = await ingest.send(who, "PATCH", path, { body: { settings: { answer: { status: 204, body: "x" } } } });
  assert.equal(bad.status, 422);
});

test("an active type of an earlier version is answered as plain text", async () => {
  const who = testPerson();
  const answer = { status: 200, body: "<script>alert(1)</script>", content_type: "text/plain" };
  const source = await ingest.newSource(who, { ...hmac, settings: { answer } });
  const text = `update sources set settings = jsonb_set(settings, '{answer,contentType}', '"text/html"'), revision = revision + 1 where id = $1`;
  await ingest.pool.query({ name: "", text }, [source.id]);
  const { headers, text: body } = await ingest.post(source, signedWith(secrets.hmac, 0));
  assert.deepEqual(
    [headers.get("content-type"), headers.get("x-content-type-options"), body],
    ["text/plain; charset=utf-8", "nosniff", answer.body],
  );
});
