import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { secrets, sign } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

const hmac = { scheme: "hmac", secret: secrets.hmac };
type Source = { id: string; ingest_path: string };
type Person = ReturnType<typeof testPerson>;

const pathOf = ({ id }: Source) => `${sourcesPath}/${id}/replays`;
const start = (who: Person, source: Source, body: object) => ingest.send(who, "POST", pathOf(source), { body });
const readReplay = async (who: Person, source: Source, { id }: { id: string }) =>
  (await ingest.send(who, "GET", `${pathOf(source)}/${id}`)).body;
const dataOf = async ({ accountId }: Person, count: number) =>
  (await ingest.eventsOf(accountId, count, "webhook.received")).map(({ data }) => data as Record<string, unknown>);

/** Waits until a replay has ended, and returns it. */
async function ended(who: Person, source: Source, replay: { id: string }) {
  await eventually(async () => assert.notEqual((await readReplay(who, source, replay)).status, "running"));
  return readReplay(who, source, replay);
}

/** A source that has received webhooks of these types, with their ids in order. */
async function sourceWith(who: Person, types: readonly string[], source: object = hmac) {
  const made = await ingest.newSource(who, source);
  for (const type of types) assert.equal((await ingest.post(made, sign("hmac", { type }))).status, 202);
  const { body } = await ingest.send(who, "GET", `${sourcesPath}/${made.id}/received?limit=50`);
  const ids: string[] = body.items.map(({ id }: { id: string }) => id).reverse();
  return { source: made, ids };
}

test("all webhooks since a time are published again in order, and name the original", async () => {
  const who = testPerson();
  const from = new Date(Date.now() - 60_000).toISOString();
  const { source, ids } = await sourceWith(
    who,
    Array.from({ length: 45 }, (_, nth) => `order.${nth}`),
  );
  const { status, body: replay } = await start(who, source, { from, rate: 1_000 });
  assert.equal(status, 202);
  assert.deepEqual([replay.total, replay.status, replay.ids, replay.rate], [45, "running", null, 1_000]);
  const done = await ended(who, source, replay);
  assert.deepEqual([done.status, done.published, done.missing], ["completed", 45, 0]);
  assert.ok(done.finished_at);
  const events = await dataOf(who, 90);
  const [first, again] = [events.slice(0, 45), events.slice(45)];
  assert.deepEqual(
    again.map(({ replay_of }) => replay_of),
    ids,
  );
  assert.deepEqual(
    again.map(({ replay_of, ...rest }) => rest),
    first,
    "but for replay_of the events are the same",
  );
  assert.deepEqual((await ingest.send(who, "GET", pathOf(source))).body.items, [done]);
});

test("chosen webhooks are published again, each once however often it is named", async () => {
  const who = testPerson();
  const { source, ids } = await sourceWith(who, ["a", "b", "c"]);
  const { body } = await start(who, source, { ids: [ids[2], ids[0], ids[2]] });
  assert.equal(body.total, 2);
  await ended(who, source, body);
  const events = await dataOf(who, 5);
  assert.deepEqual(
    events.slice(3).map(({ replay_of }) => replay_of),
    [ids[0], ids[2]],
  );
  const other = await sourceWith(who, ["a"]);
  for (const unknown of [other.ids[0], "rcv_unknown", "rcv_01kbdq4v00e8w9x2m5n7p3r6tz"]) {
    const refused = await start(who, source, { ids: [ids[0], unknown] });
    assert.equal(refused.status, 422, unknown);
    assert.equal(refused.body.error.details[0].field, "ids");
  }
});

test("a dry run counts by type and time, and publishes nothing", async () => {
  const who = testPerson();
  const { source, ids } = await sourceWith(who, ["order.made", "order.paid", "user.made", "order"]);
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const count = async (choice: object) => (await start(who, source, { ...choice, dry_run: true })).body.count;
  assert.equal(await count({ from }), 4);
  assert.equal(await count({ from: "2020-01-01T00:00:00Z" }), 4);
  assert.equal(await count({ from, event_types: ["order.*"] }), 2);
  assert.equal(await count({ from, event_types: ["order", "user*"] }), 2);
  const later = new Date(Date.now() + 3_600_000).toISOString();
  const empty = [{ from, to: from }, { from: later }, { from: later, to: later }];
  for (const window of [...empty, { from, to: new Date(Date.now() - 1_800_000).toISOString() }])
    assert.equal(await count(window), 0, JSON.stringify(window));
  assert.equal(await count({ ids: ids.slice(1) }), 3);
  assert.deepEqual((await ingest.send(who, "GET", pathOf(source))).body.items, []);
  const none = await ended(who, source, (await start(who, source, { from: later, to: later })).body);
  assert.deepEqual([none.status, none.total, none.published], ["completed", 0, 0]);
});

test("bytes, texts, forms and coded bodies are read again as at their arrival", async () => {
  const who = testPerson();
  const json = '{ "amount": 1.50, "id": 12345678901234567890 }';
  const bodies: [string, string | Buffer, object][] = [
    ["application/json", json, {}],
    ["text/plain", "plain", {}],
    ["application/octet-stream", Buffer.of(0, 255), {}],
    ["application/json", gzipSync(json), { "content-encoding": "gzip" }],
  ];
  const [wire, decoded] = [
    await ingest.newSource(who, hmac),
    await ingest.newSource(who, { ...hmac, settings: { signature_over: "decoded" } }),
  ];
  for (const [type, body, coding] of bodies) {
    const { headers } = sign("hmac", { body });
    assert.equal(
      (await ingest.post(wire, { body, headers: { ...headers, "content-type": type, ...coding } })).status,
      202,
    );
  }
  const { headers } = sign("hmac", { body: json });
  const coded = { ...headers, "content-encoding": "gzip" };
  assert.equal((await ingest.post(decoded, { body: gzipSync(json), headers: coded })).status, 202);
  const from = new Date(Date.now() - 60_000).toISOString();
  for (const source of [wire, decoded]) await ended(who, source, (await start(who, source, { from })).body);
  const events = await dataOf(who, 10);
  const payloads = (some: typeof events) =>
    some.map(({ payload, payload_text, payload_base64 }) => JSON.stringify({ payload, payload_text, payload_base64 }));
  assert.deepEqual(payloads(events.slice(5)), payloads(events.slice(0, 5)));
});

test("a replay can be cancelled, at most three run at once, and a paused source replays", async () => {
  const who = testPerson();
  const { source } = await sourceWith(who, ["a", "b", "c", "d", "e", "f"]);
  await ingest.send(who, "PATCH", `${sourcesPath}/${source.id}`, { body: { status: "paused" } });
  const from = new Date(Date.now() - 60_000).toISOString();
  const slow = [];
  for (let nth = 0; nth < 3; nth++) slow.push((await start(who, source, { from, rate: 1 })).body);
  const refused = await start(who, source, { from, rate: 1 });
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [409, "too_many"]);
  for (const { id } of slow) {
    const { status, body } = await ingest.send(who, "POST", `${pathOf(source)}/${id}/cancel`);
    assert.deepEqual([status, body.status], [200, "cancelled"]);
    assert.deepEqual((await ingest.send(who, "POST", `${pathOf(source)}/${id}/cancel`)).body, body);
    assert.ok(body.published < 6);
  }
  const quick = await ended(who, source, (await start(who, source, { from, rate: 1_000 })).body);
  assert.deepEqual([quick.status, quick.published], ["completed", 6]);
});

test("webhooks that are gone in their turn are counted as missing, and the rest is published", async () => {
  const who = testPerson();
  const { source, ids } = await sourceWith(who, ["a", "b", "c"]);
  await ingest.changeState(who.accountId, "suspended");
  await eventually(async () => assert.equal((await ingest.post(source, sign("hmac"))).status, 503));
  await ingest.changeState(who.accountId, "active");
  await eventually(async () => assert.equal((await start(who, source, { ids, dry_run: true })).status, 200));
  const { body } = await start(who, source, { ids, rate: 1 });
  await ingest.pool.query({ name: "", text: "delete from received_deliveries where id = $1" }, [ids[2]]);
  const done = await ended(who, source, body);
  assert.deepEqual([done.published, done.missing], [2, 1]);
});

test("an invalid choice is refused, and another account sees nothing", async () => {
  const who = testPerson();
  const { source, ids } = await sourceWith(who, ["a"]);
  const from = "2026-01-01T00:00:00Z";
  for (const body of [{}, { to: from }]) assert.equal((await start(who, source, body)).status, 400);
  for (const body of [
    { ids: [] },
    { ids, from },
    { ids, to: from },
    { ids, event_types: ["a"] },
    { from, to: "2020-01-01T00:00:00Z" },
    { from: "yesterday" },
    { from, rate: 0 },
    { from, rate: 1_001 },
    { from, event_types: [] },
  ]) {
    assert.equal((await start(who, source, body)).status, 422, JSON.stringify(body));
  }
  const { body } = await start(who, source, { ids });
  for (const path of [pathOf(source), `${pathOf(source)}/${body.id}`]) {
    assert.equal((await ingest.send(testPerson(), "GET", path)).status, 404);
  }
  assert.equal((await ingest.send(testPerson(), "POST", `${pathOf(source)}/${body.id}/cancel`)).status, 404);
  assert.equal((await start(testPerson(), source, { ids })).status, 404);
});

test("a creation repeated under its key starts one replay", async () => {
  const who = testPerson();
  const { source, ids } = await sourceWith(who, ["a"]);
  const headers = { "idempotency-key": crypto.randomUUID() };
  const send = () => ingest.send(who, "POST", pathOf(source), { headers, body: { ids } });
  assert.deepEqual((await send()).body.id, (await send()).body.id);
  assert.equal((await ingest.send(who, "GET", pathOf(source))).body.items.length, 1);
});
