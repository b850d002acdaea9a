import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { secrets, sign } from "./signing.ts";

const allowance = 5;
let ingest: Harness;
before(async () => {
  ingest = await startIngest({
    "http.trusted-proxies": ["127.0.0.1", "::1"],
    "webhook-ingest.refusals.unknown-sources": allowance,
    "webhook-ingest.refusals.failed-verifications": allowance + 2,
  });
});
after(() => ingest.close());

type Who = ReturnType<typeof testPerson>;
const newSource = (who: Who = testPerson(), more = {}) =>
  ingest.newSource(who, { scheme: "hmac", secret: secrets.hmac, ...more });
const change = (who: Who, { id }: { id: string }, status: string) =>
  ingest.send(who, "PATCH", `${sourcesPath}/${id}`, { body: { status } });
const unknown = { ingest_path: "/ingest/src_unknown" };

/** A client address of its own, for each test. */
let addresses = 0;
function newAddress() {
  const from = { "x-forwarded-for": `203.0.113.${++addresses}` };
  const postFrom = async (source: { ingest_path: string }, webhook: Parameters<Harness["post"]>[1]) =>
    (await ingest.post(source, { ...webhook, headers: { ...webhook.headers, ...from } })).status;
  return {
    from,
    post: (source: { ingest_path: string }) => postFrom(source, sign("hmac")),
    forge: (source: { ingest_path: string }) => postFrom(source, { ...sign("hmac"), body: "{}" }),
    async useUpAllowance() {
      for (let nth = 0; nth < allowance; nth++) assert.equal(await this.post(unknown), 404);
      assert.equal(await this.post(unknown), 429);
    },
  };
}

test("a source that was deleted turns the webhooks of no live one away, for senders share addresses", async () => {
  const [live, paused, stopped, deleted] = [testPerson(), testPerson(), testPerson(), testPerson()];
  const liveSource = await newSource(live);
  const pausedSource = await newSource(paused);
  await change(paused, pausedSource, "paused");
  const stoppedSource = await newSource(stopped);
  await change(stopped, stoppedSource, "stopped");
  const deletedSource = await newSource(deleted);
  await ingest.send(deleted, "DELETE", `${sourcesPath}/${deletedSource.id}`);

  const sender = newAddress();
  const statuses = [];
  for (let nth = 0; nth < allowance + 2; nth++) statuses.push(await sender.post(deletedSource));
  assert.deepEqual(statuses, [...Array(allowance).fill(404), 429, 429]);
  assert.equal(await sender.post(liveSource), 202);
  assert.equal(await sender.post(stoppedSource), 202);
  assert.equal(await sender.forge(liveSource), 401, "a live source has limits of its own");
  assert.equal(await sender.post(pausedSource), 429);
  await change(paused, pausedSource, "active");
  assert.equal(await sender.post(pausedSource), 202);
});

test("a rotated address of a live source is not turned away either", async () => {
  const who = testPerson();
  const source = await newSource(who);
  const { body } = await ingest.send(who, "POST", `${sourcesPath}/${source.id}/rotate-url`, { body: {} });
  const sender = newAddress();
  await sender.useUpAllowance();
  assert.deepEqual([await sender.post(body), await sender.post(source)], [202, 202]);
  assert.equal(await sender.post({ ingest_path: "/ingest/ing_unknown" }), 429);
});

test("unknown, paused and blocked sources are answered alike, at the limit too", async () => {
  const [pausing, blocked] = [testPerson(), testPerson()];
  const pausedSource = await newSource(pausing);
  await change(pausing, pausedSource, "paused");
  const blockedSource = await newSource(blocked);
  await ingest.changeState(blocked.accountId, "suspended");
  await eventually(async () => assert.equal(await newAddress().forge(blockedSource), 404));
  for (const source of [unknown, pausedSource, blockedSource]) {
    const stranger = newAddress();
    const statuses = [];
    for (let nth = 0; nth < allowance + 2; nth++) statuses.push(await stranger.forge(source));
    assert.deepEqual(statuses, [...Array(allowance).fill(404), 429, 429]);
  }
});

test("a live source's own limit is of one address and one source", async () => {
  const [source, other] = [await newSource(), await newSource()];
  const stranger = newAddress();
  const statuses = [];
  for (let nth = 0; nth < allowance + 3; nth++) statuses.push(await stranger.forge(source));
  assert.deepEqual(statuses, [...Array(allowance + 2).fill(401), 429]);
  assert.deepEqual([await stranger.post(other), await newAddress().post(source)], [202, 202]);
  assert.equal(await stranger.post(unknown), 404, "nor does it count for unknown sources");
});

test("a query that looks like a verification request counts for nothing at a live source", async () => {
  const source = await newSource();
  const sender = newAddress();
  const withToken = { ingest_path: `${source.ingest_path}?validationToken=7` };
  for (let nth = 0; nth < allowance + 3; nth++) assert.equal(await sender.post(withToken), 202);
  assert.equal(await sender.post(unknown), 404);
});

test("verification requests of a live source are answered whatever the address asked for before", async () => {
  const source = await newSource(testPerson(), { settings: { handshake: "dropbox" } });
  const sender = newAddress();
  const ask = async (path: string) => (await fetch(`${ingest.url}${path}`, { headers: sender.from })).status;
  const statuses = [];
  for (let nth = 0; nth < allowance + 2; nth++) statuses.push(await ask(`${unknown.ingest_path}?challenge=7`));
  assert.deepEqual(statuses, [...Array(allowance).fill(404), 429, 429]);
  assert.equal(await ask(`${source.ingest_path}?challenge=7`), 200);
  const refused = [];
  for (let nth = 0; nth < allowance + 3; nth++) refused.push(await ask(source.ingest_path));
  assert.deepEqual(refused, [...Array(allowance + 2).fill(404), 429], "refused ones count at their own source");
});

test("another secret clears the counters of failed verifications at once", async () => {
  const who = testPerson();
  const source = await newSource(who, { secret: "not the secret of the sender" });
  const sender = newAddress();
  const statuses = [];
  for (let nth = 0; nth < allowance + 3; nth++) statuses.push(await sender.post(source));
  assert.deepEqual(statuses, [...Array(allowance + 2).fill(401), 429]);
  const answer = await ingest.send(who, "PATCH", `${sourcesPath}/${source.id}`, { body: { secret: secrets.hmac } });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(await sender.post(source), 202);
});

test("a source that keeps rejected bodies turns no webhook away unread", async () => {
  const who = testPerson();
  const settings = { keep_rejected_bodies: true };
  const source = await newSource(who, { secret: "not the secret of the sender", settings });
  const sender = newAddress();
  const statuses = await Promise.all(Array.from({ length: 30 }, () => sender.post(source)));
  assert.deepEqual([...new Set(statuses)], [401]);
  await eventually(async () => {
    const { body } = await ingest.send(who, "GET", `${sourcesPath}/${source.id}/rejections?limit=100`);
    assert.equal(body.items.filter(({ kept }: { kept: boolean }) => kept).length, 30);
  });
});
