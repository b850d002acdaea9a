import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Caller } from "@signalbox/auth";
import { systemClock } from "@signalbox/core";
import { type Outbox, ReplayEngine } from "@signalbox/events";
import { sql } from "@signalbox/storage";
import { eventually, serviceWith, testPerson } from "@signalbox/testing";
import type { IngestService } from "../src/context/ingest-service.ts";
import { retryKind } from "../src/replays/replay.ts";
import { whyReplayed } from "../src/replays/why-replayed.ts";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { secrets, sign, signedAs } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

type Person = ReturnType<typeof testPerson>;
type Source = { id: string; ingest_path: string };
const pathOf = ({ id }: Source) => `${sourcesPath}/${id}`;
const retry = (who: Person, source: Source, body: object) =>
  ingest.send(who, "POST", `${pathOf(source)}/rejections/retry`, { body });

/** A source with a wrong secret, and the webhooks that it refused and keeps, in their order. */
async function refused(who: Person, count: number) {
  const settings = { keep_rejected_bodies: true };
  const source = await ingest.newSource(who, { scheme: "hmac", secret: "not the secret of the shop", settings });
  const ids = Array.from({ length: count }, (_, nth) => `d-${nth}`);
  for (const id of ids) assert.equal((await ingest.post(source, sign("hmac", { id }))).status, 401);
  await eventually(async () => {
    assert.deepEqual((await retry(who, source, { dry_run: true })).body, { count });
  });
  return { source, ids };
}

test("after a mend all kept rejections are received in their order", async () => {
  const who = testPerson();
  const { source, ids } = await refused(who, 25);
  await ingest.send(who, "PATCH", pathOf(source), { body: { secret: secrets.hmac } });
  assert.deepEqual((await retry(who, source, { dry_run: true, reason: "token_missing" })).body, { count: 0 });
  const started = await retry(who, source, { reason: "signature_mismatch", rate: 1_000 });
  assert.deepEqual([started.status, started.body.status, started.body.total], [202, "running", 25]);
  const done = await eventually(async () => {
    const { body } = await ingest.send(who, "GET", `${pathOf(source)}/rejection-retries/${started.body.id}`);
    return body.status === "completed" && body;
  });
  assert.deepEqual([done.received, done.repeated, done.refused], [25, 0, 0]);
  const { items } = (await ingest.send(who, "GET", `${pathOf(source)}/received?limit=50`)).body;
  assert.deepEqual(items.map(({ delivery_id }: { delivery_id: string }) => delivery_id).reverse(), ids);
  assert.deepEqual((await retry(who, source, { dry_run: true })).body, { count: 0 }, "each is received once");
});

test("a retry can be cancelled by its account alone", async () => {
  const who = testPerson();
  const { source } = await refused(who, 3);
  assert.equal((await retry(testPerson(), source, {})).status, 404);
  const { body } = await retry(who, source, { rate: 1 });
  const path = `${pathOf(source)}/rejection-retries/${body.id}`;
  assert.equal((await ingest.send(testPerson(), "GET", path)).status, 404);
  assert.equal((await retry(who, source, {})).status, 409);
  const cancelled = await ingest.send(who, "POST", `${path}/cancel`);
  assert.equal(cancelled.body.status, "cancelled");
  const { items } = (await ingest.send(who, "GET", `${pathOf(source)}/rejection-retries`)).body;
  assert.deepEqual(
    items.map(({ id }: { id: string }) => id),
    [body.id],
  );
});

test("500 webhooks of two secrets are received once each, whatever was cancelled in between", async () => {
  const who = testPerson();
  const settings = { keep_rejected_bodies: true, signed_content: "{body}", refuse_same_content_seconds: 0 };
  const source = await ingest.newSource(who, { scheme: "hmac", secret: "not the secret of the shop", settings });
  const keys = ["the first secret of the shop", "the second secret of the shop"] as const;
  const signed = { signatureHeader: "x-signature", signaturePrefix: "sha256=" };
  const posts = Array.from({ length: 500 }, (_, nth) => {
    const webhook = signedAs({ settings: signed }, keys[nth % 2 ? 1 : 0], '{"equal":true}');
    return { ...webhook, headers: { ...webhook.headers, "x-delivery-id": `d-${nth}` } };
  });
  for (let at = 0; at < posts.length; at += 10)
    await Promise.all(posts.slice(at, at + 10).map((webhook) => ingest.post(source, webhook)));
  const counted = async (filter: object = {}) => (await retry(who, source, { dry_run: true, ...filter })).body.count;
  await eventually(async () => assert.equal(await counted({ reason: "signature_mismatch" }), 500));
  const run = async (body: object) => {
    const { body: started } = await retry(who, source, { rate: 1_000, ...body });
    return eventually(async () => {
      const { body: now } = await ingest.send(who, "GET", `${pathOf(source)}/rejection-retries/${started.id}`);
      return now.status === "completed" && now;
    });
  };

  await ingest.send(who, "PATCH", pathOf(source), { body: { secret: keys[0] } });
  const first = await run({ reason: "signature_mismatch" });
  assert.deepEqual([first.received, first.repeated, first.refused], [250, 0, 250]);
  await ingest.send(who, "PATCH", pathOf(source), { body: { secret: keys[1] } });
  const { body: slow } = await retry(who, source, { rate: 100 });
  await eventually(async () => (await counted()) < 250);
  const cancelled = await ingest.send(who, "POST", `${pathOf(source)}/rejection-retries/${slow.id}/cancel`);
  assert.equal(cancelled.body.received + (await counted()), 250, "what was received is not chosen again");
  const last = await run({});
  assert.deepEqual([last.received, last.repeated, last.refused], [250 - cancelled.body.received, 0, 0]);
  const events = await ingest.eventsOf(who.accountId, 500, "webhook.received");
  const ids = events.map(({ data }) => Object(data).delivery_id);
  assert.equal(new Set(ids).size, 500);
});

test("equal content is compared by the times of its requests, however late they are retried", async () => {
  const who = testPerson();
  const settings = { keep_rejected_bodies: true, signed_content: "{body}" };
  const source = await ingest.newSource(who, { scheme: "hmac", secret: "not the secret of the shop", settings });
  const signed = { signatureHeader: "x-signature", signaturePrefix: "sha256=" };
  const webhook = signedAs({ settings: signed }, secrets.hmac, '{"equal":true}');
  for (let count = 0; count < 3; count++) assert.equal((await ingest.post(source, webhook)).status, 401);
  const kept = await eventually(async () => {
    const { items } = (await ingest.send(who, "GET", `${pathOf(source)}/rejections`)).body;
    return items.length === 3 && (items as { id: string }[]).toReversed();
  });
  const earlier = sql("", "update rejections set rejected_at = rejected_at - make_interval(mins => $2) where id = $1");
  for (const [nth, minutes] of [20, 10, 9].entries()) await ingest.pool.query(earlier, [kept[nth]?.id, minutes]);
  await ingest.send(who, "PATCH", pathOf(source), { body: { secret: secrets.hmac } });
  const outcomes: string[] = [];
  for (const { id } of kept)
    outcomes.push((await ingest.send(who, "POST", `${pathOf(source)}/rejections/${id}/retry`)).body.outcome);
  assert.deepEqual(outcomes, ["received", "received", "repeated"]);
});

test("why of a retry tells its progress", async () => {
  const who = testPerson();
  const { source } = await refused(who, 2);
  const { id } = (await retry(who, source, {})).body;
  const { pool } = ingest;
  const retryEngine = new ReplayEngine(retryKind, { pool, outbox: {} as Outbox, clock: systemClock });
  const finder = whyReplayed(serviceWith<IngestService>({ pool, retryEngine })).find(({ knows }) => knows(id));
  const why = ({ accountId }: { readonly accountId: string }) => finder?.find({ accountId } as Caller, id);
  await eventually(async () => {
    const part = await why(who);
    assert.match(part?.steps[0]?.what ?? "", /^A retry of 2 rejections of the source src_\w+ was started\.$/);
    assert.match(part?.steps[1]?.what ?? "", /^The retry ended: of 2 .* 2 are refused again\.$/);
    assert.equal(part?.next.length, 2);
  });
  assert.equal(await why(testPerson()), null);
});
