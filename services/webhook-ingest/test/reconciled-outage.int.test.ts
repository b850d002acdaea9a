import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createManualClock, hours, type ManualClock, minutes, seconds } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { eventually, type TestDatabase, testDatabase, testPerson } from "@signalbox/testing";
import { comparedSources } from "./compared-sources.ts";
import { type Harness, startIngest } from "./harness.ts";
import {
  type FakeGithub,
  type FakeStripe,
  type FakeWebhook,
  githubKey,
  startFakeGithub,
  startFakeStripe,
  stripeKey,
} from "./sender-fakes.ts";

const secret = "a secret of at least sixteen bytes";
const each = 2_000;
/** Webhooks of GitHub in bytes that its API does not show: it has to send them again. */
const unreadable = 10;
const latencyMs = 30;

let [clock, github, stripe, ingest]: [ManualClock, FakeGithub, FakeStripe, Harness] = [] as never;
let databases: TestDatabase[];
before(async () => {
  // The morning of the day of the real clock, which has its tables.
  clock = createManualClock(new Date(`${new Date().toISOString().slice(0, 10)}T02:01:00.000Z`));
  const onRequest = () => clock.advance(latencyMs);
  github = await startFakeGithub(clock, secret, onRequest);
  stripe = await startFakeStripe(clock, secret, onRequest);
  databases = await Promise.all([testDatabase(), testDatabase()]);
});
after(async () => {
  await ingest.close();
  await Promise.all([github.close(), stripe.close(), ...databases.map((database) => database.close())]);
});

const start = () =>
  startIngest(
    {
      "database.url": databases[0]?.url ?? "",
      "events.url": databases[1]?.url ?? "",
      "webhook-ingest.outbound.allow": [github, stripe].map(({ url }) => new URL(url).host).join(","),
    },
    { clock },
  );

test("ingest is off for an hour: 4,000 webhooks of two senders are there five minutes later, each once and marked", async () => {
  const who = testPerson({ authTimeMs: clock.nowMs() });
  ingest = await start();
  const shop = await ingest.newSource(who, { scheme: "github", secret });
  const payments = await ingest.newSource(who, { scheme: "stripe", secret });
  const { setKey, ended: endedBefore } = comparedSources(ingest, clock);
  const [atGithub, atStripe] = [
    { sender: "github", key: githubKey, repository: "acme/shop", hook_id: 42, api_url: github.url },
    { sender: "stripe", key: stripeKey, api_url: stripe.url },
  ];
  // Time to compare, and not enough to count as an outage of its own.
  clock.advance(seconds(5));
  assert.equal((await setKey(who, shop, atGithub)).status, 200);
  assert.equal((await setKey(who, payments, atStripe)).status, 200);
  for (const source of [shop, payments]) assert.equal((await endedBefore(who, source, "key")).missed, 0);
  const signOfLife = sql("", "select from heartbeats where beat_at >= $1");
  await eventually(async () => (await ingest.pool.query(signOfLife, [clock.now()])).rowCount === 1);
  await ingest.close();

  const offAt = clock.nowMs();
  const gapMs = Math.floor(hours(1) / each);
  const sent = { github: [] as FakeWebhook[], stripe: [] as FakeWebhook[] };
  for (let number = 1; number <= each; number++) {
    const at = new Date(offAt + number * gapMs - seconds(1));
    const webhook = github.create(number, { spaced: number <= unreadable, form: number % 10 === 0 });
    github.note(webhook, at);
    sent.github.push(webhook);
    sent.stripe.push(stripe.create(number, at));
  }
  clock.set(new Date(offAt + hours(1)));
  ingest = await start();
  github.redeliver = async (webhook) => (await ingest.post(shop, webhook)).status;
  const backAt = clock.nowMs();
  const { ended, receivedOf } = comparedSources(ingest, clock);
  // The oldest: where the clock jumps by more than half a minute between two signs of life, it makes an outage of its own.
  const runs = [await ended(who, shop, "outage", "oldest"), await ended(who, payments, "outage", "oldest")];
  const tookMs = Math.max(...runs.map(({ finished_at }) => Date.parse(finished_at))) - backAt;
  assert.ok(tookMs <= minutes(5), `${tookMs / 1_000} s`);
  for (const { status, missed, recovered } of runs)
    assert.deepEqual([status, missed, recovered], ["completed", each, each]);
  assert.deepEqual([...github.broken, ...stripe.broken], [], "no limit of a sender is broken");

  const { body: outages } = await ingest.send(who, "GET", "/api/v1/webhooks/outages");
  const outage = outages.items.at(-1);
  assert.deepEqual([outage.missed, outage.recovered, outage.running], [2 * each, 2 * each, 0]);
  assert.match(outage.summary, /^02:01–03:01: 4,000 missed, 4,000 recovered$/);

  // Every sender may send everything once more.
  const again = [...sent.github.slice(0, 200).map((one) => [shop, one] as const)];
  for (const one of sent.stripe.slice(0, 200)) again.push([payments, stripe.signedNow(one)] as const);
  for (const [source, webhook] of again) assert.equal((await ingest.post(source, webhook)).status, 202);
  const stored = sql(
    "",
    "select count(*)::int as count, count(distinct delivery_id)::int as ids from received_deliveries where source_id = $1 and origin = 'reconciled'",
  );
  for (const source of [shop, payments]) {
    assert.deepEqual((await ingest.pool.query(stored, [source.id])).rows, [{ count: each, ids: each }]);
    assert.deepEqual(await receivedOf(who, source, "&origin=pushed"), []);
  }
  const events = await ingest.eventsOf(who.accountId, 2 * each, "webhook.received");
  const data = events.map(({ data: one }) => one as { source_id: string; delivery_id: string; origin: string });
  assert.equal(new Set(data.map((one) => `${one.source_id} ${one.delivery_id}`)).size, 2 * each);
  assert.ok(data.every(({ origin }) => origin === "reconciled"));
  assert.equal(events.length, 2 * each, "no effect twice");
});
