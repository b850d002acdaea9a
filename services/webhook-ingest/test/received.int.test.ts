import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { hours, newId } from "@signalbox/core";
import { tableOfDay } from "@signalbox/storage";
import { eventually, testPerson } from "@signalbox/testing";
import { findOwnReceived } from "../src/received/received-store.ts";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { secrets, sign } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

type Person = ReturnType<typeof testPerson>;
const hmac = { scheme: "hmac", secret: secrets.hmac };

const ask = (who: Person, selection: string, of: object) =>
  ingest.graphql(who, `query($of: [_Any!]!) { _entities(representations: $of) { ${selection} } }`, { of: [of] });
const sourceOf = async (who: Person, { id }: { id: string }, selection: string) => {
  const answer = await ask(who, `... on WebhookSource { ${selection} }`, { __typename: "WebhookSource", id });
  return answer.data._entities[0];
};

test("received webhooks are in GraphQL as over REST, with pages and filters", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  for (const type of ["order.made", "order.paid", "user.made"]) {
    assert.equal((await ingest.post(source, sign("hmac", { type }))).status, 202);
  }
  const rest = (await ingest.send(who, "GET", `${sourcesPath}/${source.id}/received`)).body.items;
  const fields = `id deliveryId deliveryIdSigned eventType eventTypeSigned sameContentAs forwarded contentType bodyBytes
    receivedAt bodyPath headers source { id name }`;
  const page = `received(first: 2) { edges { node { ${fields} } } pageInfo { hasNextPage endCursor } }`;
  const { received } = await sourceOf(who, source, page);
  const [node] = received.edges.map((edge: { node: object }) => edge.node);
  const [item] = rest;
  assert.deepEqual(
    { ...node, headers: node.headers["x-signature"] },
    {
      id: item.id,
      deliveryId: item.delivery_id,
      deliveryIdSigned: false,
      eventType: "user.made",
      eventTypeSigned: true,
      sameContentAs: null,
      forwarded: true,
      contentType: "application/json",
      bodyBytes: item.body_bytes,
      receivedAt: item.received_at,
      headers: "******",
      bodyPath: `${sourcesPath}/${source.id}/received/${item.id}/body`,
      source: { id: source.id, name: "Shop" },
    },
  );
  const after = received.pageInfo.endCursor;
  const next = await sourceOf(who, source, `received(first: 2, after: "${after}") { edges { node { id } } }`);
  assert.deepEqual(
    next.received.edges.map(({ node: { id } }: { node: { id: string } }) => id),
    [rest[2].id],
  );
  const narrowed = await sourceOf(who, source, `received(eventType: "order.*") { edges { node { eventType } } }`);
  assert.deepEqual(
    narrowed.received.edges.map(({ node: { eventType } }: { node: { eventType: string } }) => eventType),
    ["order.paid", "order.made"],
  );
  const tooLong = `query($of: [_Any!]!, $type: String) { _entities(representations: $of) {
    ... on WebhookSource { received(eventType: $type) { edges { node { id } } } } } }`;
  const of = [{ __typename: "WebhookSource", id: source.id }];
  const { errors } = await ingest.graphql(who, tooLong, { of, type: "x".repeat(257) });
  assert.deepEqual(
    [errors[0].extensions.code, errors[0].extensions.details[0].field],
    ["VALIDATION_FAILED", "eventType"],
  );
});

test("a received webhook is found by its id, a hundred by one statement, and never another account's", async () => {
  const [who, other] = [testPerson(), testPerson()];
  const [own, foreign] = [await ingest.newSource(who, hmac), await ingest.newSource(other, hmac)];
  for (const source of [own, foreign]) assert.equal((await ingest.post(source, sign("hmac"))).status, 202);
  const idOf = async (whose: Person, { id }: { id: string }) =>
    (await ingest.send(whose, "GET", `${sourcesPath}/${id}/received`)).body.items[0].id as string;
  const [mine, theirs] = [await idOf(who, own), await idOf(other, foreign)];
  const found = async (id: string) =>
    (await ask(who, "... on ReceivedWebhook { id }", { __typename: "ReceivedWebhook", id })).data._entities[0];
  assert.deepEqual([await found(mine), await found(theirs), await found("rcv_nobody")], [{ id: mine }, null, null]);
  let statements = 0;
  const query: typeof ingest.pool.query = (...sent) => {
    statements++;
    return ingest.pool.query(...sent);
  };
  const rows = await findOwnReceived({ query }, who.accountId, [mine, theirs, "rcv_nobody"]);
  assert.deepEqual([rows.map(({ id }) => id), statements], [[mine], 1]);
});

test("a refused webhook is shown and retried by a mutation", async () => {
  const who = testPerson();
  const wrong = { ...hmac, secret: "not the secret of the shop", settings: { keep_rejected_bodies: true } };
  const source = await ingest.newSource(who, wrong);
  assert.equal((await ingest.post(source, sign("hmac"))).status, 401);
  const shown = "rejections { edges { node { id reason status kept receivedId } } }";
  const node = await eventually(async () => (await sourceOf(who, source, shown)).rejections.edges[0]?.node ?? null);
  assert.deepEqual(
    { ...node, id: "" },
    { id: "", reason: "signature_mismatch", status: 401, kept: true, receivedId: null },
  );
  const mutation = `mutation($sourceId: ID!, $id: ID!) { retryWebhookRejection(sourceId: $sourceId, id: $id) {
    outcome receivedWebhook { id deliveryId } errors { code } } }`;
  const retry = (whose: Person) => ingest.graphql(whose, mutation, { sourceId: source.id, id: node.id });
  assert.equal((await retry(who)).errors[0].extensions.code, "CONFLICT");
  assert.equal((await retry(testPerson())).errors[0].extensions.code, "NOT_FOUND");
  await ingest.send(who, "PATCH", `${sourcesPath}/${source.id}`, { body: { secret: hmac.secret } });
  const { outcome, receivedWebhook } = (await retry(who)).data.retryWebhookRejection;
  assert.equal(outcome, "received");
  assert.deepEqual((await sourceOf(who, source, shown)).rejections.edges[0].node.receivedId, receivedWebhook.id);
  assert.equal((await retry(who)).data.retryWebhookRejection.outcome, "repeated");
});

test("replays are started, watched and cancelled in GraphQL", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  for (let nth = 0; nth < 5; nth++) assert.equal((await ingest.post(source, sign("hmac"))).status, 202);
  const replay = "replay { id status total published rate ids eventTypes finishedAt }";
  const create = `mutation($sourceId: ID!, $input: CreateReceivedWebhookReplayInput!) {
    createReceivedWebhookReplay(sourceId: $sourceId, input: $input) { ${replay} count errors { field code } } }`;
  const begin = async (input: object) =>
    (await ingest.graphql(who, create, { sourceId: source.id, input })).data.createReceivedWebhookReplay;
  const from = "2026-01-01T00:00:00Z";
  assert.deepEqual(await begin({ from, dryRun: true }), { replay: null, count: 5, errors: [] });
  assert.deepEqual(await begin({ from, to: from, dryRun: true }), { replay: null, count: 0, errors: [] });
  assert.deepEqual((await begin({ from, rate: 0 })).errors, [{ field: "rate", code: "too_small" }]);
  const started = (await begin({ from, eventTypes: ["order.*"], rate: 1 })).replay;
  assert.deepEqual([started.total, started.rate, started.ids, started.eventTypes], [5, 1, null, ["order.*"]]);
  const cancel = `mutation($sourceId: ID!, $id: ID!) {
    cancelReceivedWebhookReplay(sourceId: $sourceId, id: $id) { ${replay} errors { code } } }`;
  const { data } = await ingest.graphql(who, cancel, { sourceId: source.id, id: started.id });
  assert.equal(data.cancelReceivedWebhookReplay.replay.status, "cancelled");
  const list = await sourceOf(who, source, "replays { edges { node { id status } } }");
  assert.deepEqual(list.replays.edges, [{ node: { id: started.id, status: "cancelled" } }]);
});

const dayMs = hours(24);
const run = (text: string, values: unknown[] = []) =>
  ingest.pool.query<Record<string, string>>({ name: "", text }, values);

/** Reads the list of a source, page by page. */
async function walk(who: ReturnType<typeof testPerson>, { id }: { id: string }, query = "limit=2") {
  const items: { id: string; delivery_id: string; received_at: string }[] = [];
  for (let cursor = ""; ; ) {
    const { body, text } = await ingest.send(who, "GET", `${sourcesPath}/${id}/received?${query}${cursor}`);
    assert.ok(Array.isArray(body.items), text);
    items.push(...body.items);
    if (!body.has_more) return items;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

/** Stores a webhook as if it had arrived this many days ago. */
async function receivedDaysAgo(
  source: { id: string },
  days: number,
  more: { type?: string; forwarded?: boolean } = {},
) {
  const at = Date.now() - days * dayMs;
  const id = newId("rcv", at);
  const name = randomUUID();
  const text = `insert into received_deliveries (id, source_id, delivery_id, is_id_signed, event_type, is_type_signed,
    content_type, forwarded, headers, body, received_at) values ($1, $2, $3, false, $4, false, null, $5, '{}', 'x', $6)`;
  await run(text, [id, source.id, name, more.type ?? null, more.forwarded ?? true, new Date(at)]);
  const digest = createHash("sha256").update(`id\0${name}\0`).digest().subarray(0, 16);
  await run("insert into received_keys values ($1, $2, 'x', $3, $4)", [source.id, digest, id, new Date(at)]);
  return { id, name };
}

test("a webhook is stored in the table of its day", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  assert.equal((await ingest.post(source, sign("hmac"))).status, 202);
  const text =
    "select tableoid::regclass::text as place, received_at::text from received_deliveries where source_id = $1";
  const [row] = (await run(text, [source.id])).rows;
  const day = Math.floor(Date.parse(row?.received_at ?? "") / dayMs) * dayMs;
  assert.equal(row?.place, tableOfDay({ name: "received_deliveries" }, day));
});

test("a list runs through the days of the retention, newest first and without gaps, and each item can be read", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const ages = [0.5, 1, 6.9, 7, 7.1, 8, 20, 29];
  const made = [];
  for (const days of [...ages, 33]) made.push(await receivedDaysAgo(source, days));
  const items = await walk(who, source);
  assert.deepEqual(
    items.map(({ id }) => id),
    made.slice(0, ages.length).map(({ id }) => id),
    "what is past the retention is not shown",
  );
  for (const { id } of items) {
    assert.equal((await ingest.send(who, "GET", `${sourcesPath}/${source.id}/received/${id}`)).body.id, id);
  }
});

test("a list can be filtered by type, prefix, delivery id, forwarding and time", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const [paid, made, other] = [
    await receivedDaysAgo(source, 1, { type: "order.paid" }),
    await receivedDaysAgo(source, 9, { type: "order.made", forwarded: false }),
    await receivedDaysAgo(source, 20),
  ];
  const at = (days: number) => new Date(Date.now() - days * dayMs).toISOString();
  const cases: [string, { id: string }[]][] = [
    ["event_type=order.paid", [paid]],
    ["event_type=order.*", [paid, made]],
    ["event_type=*", [paid, made]],
    ["event_type=order", []],
    [`delivery_id=${made.name}`, [made]],
    [`delivery_id=${made.name}&event_type=order.paid`, []],
    [`delivery_id=${randomUUID()}`, []],
    ["forwarded=false", [made]],
    [`from=${at(10)}`, [paid, made]],
    [`to=${at(8)}`, [made, other]],
    [`from=${at(10)}&to=${at(8)}&forwarded=false`, [made]],
    [`from=${at(5)}&delivery_id=${made.name}`, []],
    [`to=${at(15)}&delivery_id=${made.name}`, []],
  ];
  for (const [query, expected] of cases) {
    const found = (await walk(who, source, `limit=1&${query}`)).map(({ id }) => id);
    assert.deepEqual(
      found,
      expected.map(({ id }) => id),
      query,
    );
  }
  for (const query of ["forwarded=yes", "from=yesterday", "colour=red"]) {
    const path = `${sourcesPath}/${source.id}/received?${query}`;
    assert.equal((await ingest.send(who, "GET", path)).status, 400, query);
  }
});

test("a repetition is known for the whole retention, on any day", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const webhook = sign("hmac");
  assert.equal((await ingest.post(source, webhook)).status, 202);
  for (const table of ["received_deliveries", "received_keys"]) {
    await run(`update ${table} set received_at = received_at - interval '20 days' where source_id = $1`, [source.id]);
  }
  assert.equal((await ingest.post(source, webhook)).status, 202);
  assert.equal((await walk(who, source)).length, 1);
});
