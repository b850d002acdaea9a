import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { createManualClock, type ManualClock, minutes, seconds } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { eventually, serviceWith, testPerson } from "@signalbox/testing";
import type { IngestService } from "../src/context/ingest-service.ts";
import { findRejectionSpells } from "../src/reconciling/outages.ts";
import { comparedSources } from "./compared-sources.ts";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import {
  type FakeGithub,
  type FakeStripe,
  githubKey,
  startFakeGithub,
  startFakeStripe,
  stripeKey,
} from "./sender-fakes.ts";

const secret = "a secret of at least sixteen bytes";
let [ingest, clock, github, stripe]: [Harness, ManualClock, FakeGithub, FakeStripe] = [] as never;
/** Asked by one test alone: a clock that jumps is an outage, after which every source is compared. */
let busy: FakeGithub;
let compared: ReturnType<typeof comparedSources>;
before(async () => {
  // The day of the real clock, which has its tables.
  clock = createManualClock(new Date());
  github = await startFakeGithub(clock, secret);
  busy = await startFakeGithub(clock, secret);
  stripe = await startFakeStripe(clock, secret);
  const allow = [github, busy, stripe].map(({ url }) => new URL(url).host).join(",");
  ingest = await startIngest({ "webhook-ingest.outbound.allow": allow }, { clock });
  compared = comparedSources(ingest, clock);
});
beforeEach(async () => {
  stripe.deliverAll();
  // The clock of the last test may have left a gap behind, which counts as an outage.
  const signOfLife = sql("", "select from heartbeats where beat_at >= $1");
  await eventually(async () => (await ingest.pool.query(signOfLife, [clock.now()])).rowCount === 1);
});
after(async () => {
  await ingest.close();
  await Promise.all([github.close(), busy.close(), stripe.close()]);
});

const githubSource = { scheme: "github", secret };
const stripeSource = { scheme: "stripe", secret };
const githubPlace = () => ({
  sender: "github",
  key: githubKey,
  repository: "acme/shop",
  hook_id: 42,
  api_url: github.url,
});
const stripePlace = () => ({ sender: "stripe", key: stripeKey, api_url: stripe.url });

test("a new key finds what was missed since the source exists, takes it once, and says so", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, stripeSource);
  const from = clock.now();
  const [pushed, ...missed] = [1, 2, 3, 4].map((number) =>
    stripe.create(number, new Date(from.getTime() + number * 1_000)),
  );
  assert.ok(pushed);
  assert.equal((await ingest.post(source, pushed)).status, 202);
  clock.advance(seconds(5));
  const { status, body, text } = await compared.setKey(who, source, stripePlace());
  assert.equal(status, 200, text);
  assert.ok(!text.includes(stripeKey), "the key is not shown");
  assert.deepEqual(
    [body.sender_key.sender, body.sender_key.state, body.sender_key.hook_id],
    ["stripe", "unchecked", null],
  );
  const run = await compared.ended(who, source, "key");
  assert.deepEqual([run.status, run.trigger, run.listed, run.missed, run.recovered], ["completed", "key", 4, 3, 3]);
  assert.match(run.summary, /^\d\d:\d\d–\d\d:\d\d: 3 missed, 3 recovered$/);
  assert.equal((await compared.keyOf(who, source)).state, "working");

  for (const webhook of missed) assert.equal((await ingest.post(source, webhook)).status, 202, "Stripe tries again");
  const items = await compared.receivedOf(who, source);
  assert.deepEqual(
    items.map((item: Record<string, unknown>) => [item.delivery_id, item.origin, item.delivery_id_signed]).sort(),
    [[pushed.id, "pushed", true], ...missed.map(({ id }) => [id, "reconciled", false])].sort(),
    "in other bytes, and still once",
  );
  assert.equal((await compared.receivedOf(who, source, "&origin=reconciled")).length, 3);
  const events = await ingest.eventsOf(who.accountId, 4, "webhook.received");
  assert.deepEqual(events.map(({ data }) => (data as { origin: string }).origin).sort(), [
    "pushed",
    ...missed.map(() => "reconciled"),
  ]);
});

test("GitHub's deliveries are taken with their signatures, and sent again where their bytes cannot be had", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, githubSource);
  const at = clock.now();
  const [json, form, done] = [github.create(11), github.create(12, { form: true }), github.create(14)];
  // Bytes that no reader of the JSON can know: GitHub has to send them again.
  const sent = github.create(13, { spaced: true });
  for (const [nth, webhook] of [json, form, sent, done].entries())
    github.note(webhook, new Date(at.getTime() + 1_000 * nth), webhook === done ? 202 : 502);
  const redelivered: string[] = [];
  github.redeliver = async (webhook) => {
    redelivered.push(webhook.id);
    return (await ingest.post(source, webhook)).status;
  };
  clock.advance(seconds(5));
  assert.equal((await compared.setKey(who, source, githubPlace())).status, 200);
  const run = await compared.ended(who, source, "key");
  assert.deepEqual([run.status, run.missed, run.recovered], ["completed", 3, 3]);
  assert.deepEqual(redelivered, [sent.id]);
  assert.equal((await ingest.post(source, json)).status, 202, "a later push is a repetition");
  const items = await compared.receivedOf(who, source);
  assert.deepEqual(
    items.map(({ delivery_id, origin }: Record<string, string>) => [delivery_id, origin]).sort(),
    [json, form, sent].map(({ id }) => [id, "reconciled"]).sort(),
  );
  assert.deepEqual(github.broken, []);
});

test("a key that the sender refuses shows at the source with its reason, and stops nothing else", async () => {
  const who = testPerson();
  const [source, other] = [await ingest.newSource(who, stripeSource), await ingest.newSource(who, stripeSource)];
  clock.advance(seconds(2));
  const key = "rk_live_of_somebody_else";
  const { body } = await compared.setKey(who, source, { ...stripePlace(), key });
  const [run, mine] = [await compared.ended(who, source, "key"), stripe.create(21, clock.now())];
  assert.deepEqual([run.status, run.reason], ["failed", "key_unauthorized"]);
  const refused = await compared.keyOf(who, source);
  assert.deepEqual([refused.state, refused.reason], ["refused", "unauthorized"]);
  assert.ok(refused.since >= body.sender_key.set_at);
  assert.equal((await ingest.post(source, mine)).status, 202, "the source receives as before");
  const changes = await ingest.eventsOf(who.accountId, 2, "webhook_source.updated");
  assert.ok(changes.some(({ data }) => (data as { changed: string[] }).changed.includes("sender_key")));

  assert.equal((await compared.setKey(who, other, stripePlace())).status, 200);
  assert.equal((await compared.ended(who, other, "key")).status, "completed", "another source is compared");
  assert.equal((await compared.setKey(who, source, stripePlace())).status, 200, "the right key");
  await eventually(async () => (await compared.keyOf(who, source)).state === "working");
  const path = `${sourcesPath}/${source.id}/sender-key`;
  assert.equal((await ingest.send(who, "DELETE", path)).status, 204);
  assert.equal(await compared.keyOf(who, source), null);
  assert.equal((await compared.reconcile(who, source)).body.error.details[0].field, "sender_key");
  const audit = (await ingest.auditOf(who.accountId, 6)).map(({ data }) => (data as { action: string }).action);
  for (const action of ["set", "delete"]) assert.ok(audit.includes(`webhook_source.${action}_sender_key`), action);
});

test("a comparison on request counts without effect in a dry run, and recovers otherwise", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { ...stripeSource, event_types: ["charge.*"] });
  clock.advance(seconds(2));
  await compared.setKey(who, source, stripePlace());
  await compared.ended(who, source, "key");
  const missed = [31, 32].map((number) => stripe.create(number, clock.now()));
  stripe.create(33, clock.now(), { type: "invoice.paid" });
  clock.advance(seconds(2));
  const { status, body } = await compared.reconcile(who, source, { dry_run: true });
  assert.deepEqual([status, body.status, body.trigger, body.dry_run], [202, "running", "request", true]);
  assert.equal((await compared.reconcile(who, source)).status, 409, "one at a time");
  const counted = await compared.ended(who, source, "request");
  assert.deepEqual([counted.missed, counted.recovered, await compared.receivedOf(who, source)], [2, 0, []]);

  clock.advance(seconds(1));
  const { data } = await ingest.graphql(
    who,
    `mutation ($id: ID!) { reconcileWebhookSource(id: $id, input: {}) { reconciliation { id status } errors { code } } }`,
    { id: source.id },
  );
  assert.deepEqual(data.reconcileWebhookSource.errors, []);
  const run = await compared.ended(who, source, "request");
  assert.deepEqual([run.id, run.missed, run.recovered], [data.reconcileWebhookSource.reconciliation.id, 2, 2]);
  const ids = (await compared.receivedOf(who, source)).map(({ delivery_id }) => delivery_id);
  assert.deepEqual(ids.sort(), missed.map(({ id }) => id).sort(), "types that the source refuses are left out");
  const one = `${sourcesPath}/${source.id}/reconciliations/${run.id}`;
  assert.equal((await ingest.send(who, "GET", one)).body.id, run.id);
  assert.equal((await ingest.send(testPerson(), "GET", one)).status, 404, "nobody else sees it");
});

test("a sender that asks for a pause gets it, and one that is away is asked again", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, githubSource);
  clock.advance(seconds(2));
  const resetAt = Math.ceil(clock.nowMs() / 1_000) + 600;
  const spent = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(resetAt) };
  busy.answers.push(
    { status: 500, json: {} },
    { status: 200, json: "no list" },
    { status: 403, json: { message: "You have exceeded a secondary rate limit." }, headers: { "retry-after": "90" } },
    { status: 403, json: { message: "API rate limit exceeded" }, headers: spent },
  );
  const startedMs = clock.nowMs();
  await compared.setKey(who, source, { ...githubPlace(), api_url: busy.url });
  const run = await compared.ended(who, source, "key");
  assert.equal(run.status, "completed");
  assert.deepEqual(busy.answers, [], "each was asked for");
  assert.ok(clock.nowMs() >= resetAt * 1_000, "not before the reset");
  assert.ok(clock.nowMs() - startedMs < minutes(13));
  assert.equal((await compared.keyOf(who, source)).state, "working", "a pause says nothing about the key");
});

test("after a spell of rejections the source is compared at once", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, stripeSource);
  clock.advance(seconds(2));
  await compared.setKey(who, source, stripePlace());
  await compared.ended(who, source, "key");
  clock.advance(seconds(1));
  const missed = stripe.create(41, clock.now());
  const forged = { ...missed, headers: { ...missed.headers, "stripe-signature": "t=1,v1=00" } };
  for (let tries = 0; tries < 6; tries++) assert.equal((await ingest.post(source, forged)).status, 401);
  const rejections = sql("", "select from rejections where source_id = $1");
  await eventually(async () => (await ingest.pool.query(rejections, [source.id])).rowCount === 6);
  const { pool } = ingest;
  const triggerOf = async () => {
    const row = sql("", "select trigger from reconciliation_schedules where source_id = $1");
    return (await ingest.pool.query<{ trigger: string }>(row, [source.id])).rows[0]?.trigger;
  };
  await findRejectionSpells(serviceWith<IngestService>({ pool, clock }));
  assert.equal(await triggerOf(), "schedule", "the spell may go on");
  const later = createManualClock(new Date(clock.nowMs() + minutes(1)));
  await findRejectionSpells(serviceWith<IngestService>({ pool, clock: later }));
  assert.equal(await triggerOf(), "rejections");
  clock.set(later.now());
  await eventually(async () => (await compared.receivedOf(who, source)).length === 1);
});

test("a key that does not fit the source is refused with the field, and nothing is stored", async () => {
  const who = testPerson();
  const [shop, payments] = [await ingest.newSource(who, githubSource), await ingest.newSource(who, stripeSource)];
  const { hook_id: _, ...withoutHook } = githubPlace();
  for (const [source, body, field] of [
    [payments, githubPlace(), "sender"],
    [shop, stripePlace(), "sender"],
    [shop, withoutHook, "hook_id"],
    [shop, { ...githubPlace(), organization: "acme" }, "repository"],
    [shop, { ...githubPlace(), repository: "acme/shop/../x" }, "repository"],
    [payments, { ...stripePlace(), hook_id: 1 }, "hook_id"],
    [payments, { ...stripePlace(), api_url: "https://10.0.0.5" }, "api_url"],
    [payments, { ...stripePlace(), api_url: "http://api.stripe.com" }, "api_url"],
    [payments, { ...stripePlace(), key: "with spaces in it" }, "key"],
    [payments, { ...stripePlace(), sender: "shopify" }, "sender"],
  ] as const) {
    const { status, body: answer } = await compared.setKey(who, source, body);
    assert.deepEqual([status, answer.error?.details?.[0]?.field], [422, field], JSON.stringify(body));
  }
  const placed = await ingest.newSource(who, { ...stripeSource, settings: { delivery_id_from: "digest" } });
  assert.equal((await compared.setKey(who, placed, stripePlace())).status, 422, "its ids would not meet");
  for (const source of [shop, payments, placed]) assert.equal(await compared.keyOf(who, source), null);
});

test("a deleted source leaves no key, run or missed webhook, and its key was sealed", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, stripeSource);
  stripe.create(51, clock.now());
  clock.advance(seconds(2));
  await compared.setKey(who, source, stripePlace());
  await compared.ended(who, source, "key");
  assert.equal((await compared.receivedOf(who, source)).length, 1);
  const sealed = sql("", "select sealed_sender_key as text from sources where id = $1");
  const [{ text } = { text: "" }] = (await ingest.pool.query<{ text: string }>(sealed, [source.id])).rows;
  assert.ok(text.startsWith("v1.test.") && !text.includes(stripeKey));
  assert.equal((await ingest.send(who, "DELETE", `${sourcesPath}/${source.id}`)).status, 204);
  for (const table of ["reconciliations", "reconciliation_schedules", "missed_webhooks"]) {
    const left = sql("", `select from ${table} where source_id = $1`);
    assert.equal((await ingest.pool.query(left, [source.id])).rowCount, 0, table);
  }
});
