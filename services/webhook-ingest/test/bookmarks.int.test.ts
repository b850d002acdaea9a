import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { secrets, sign } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest({ "webhook-ingest.bookmarks.max": 2 });
});
after(() => ingest.close());

type Person = ReturnType<typeof testPerson>;
const bookmarksPath = "/api/v1/webhooks/bookmarks";

/** A source of the account with one received webhook. */
async function received(who: Person, body = '{"id":"d-1","type":"order.created","amount":1}') {
  const source = await ingest.newSource(who, { scheme: "hmac", secret: secrets.hmac });
  await ingest.post(source, sign("hmac", { id: "d-1", type: "order.created", body }));
  const { body: page } = await ingest.send(who, "GET", `${sourcesPath}/${source.id}/received`);
  const path = `${sourcesPath}/${source.id}/received/${page.items[0].id}`;
  const bookmark = (name: string, as = who) => ingest.send(as, "POST", `${path}/bookmark`, { body: { name } });
  return { source, webhook: page.items[0], path, bookmark };
}

test("a bookmark keeps headers and bytes past the retention, and goes with its source", async () => {
  const who = testPerson();
  const { source, webhook, path, bookmark } = await received(who);
  const { status, headers, body } = await bookmark("first-order");
  assert.deepEqual([status, headers.get("location")], [201, `${bookmarksPath}/first-order`]);
  assert.deepEqual(
    [body.source_id, body.received_id, body.delivery_id, body.event_type],
    [source.id, webhook.id, webhook.delivery_id, "order.created"],
  );
  await ingest.pool.query({ name: "", text: "delete from received_deliveries" });
  assert.equal((await ingest.send(who, "GET", path)).status, 404);
  const { body: full } = await ingest.send(who, "GET", `${bookmarksPath}/first-order`);
  assert.deepEqual([full.headers["x-signature"], full.headers["content-type"]], ["******", "application/json"]);
  const bytes = await ingest.send(who, "GET", `${bookmarksPath}/first-order/body`);
  assert.deepEqual([bytes.status, bytes.text.length], [200, full.body_bytes]);
  assert.equal(bytes.headers.get("content-type"), "application/octet-stream");
  const { body: page } = await ingest.send(who, "GET", bookmarksPath);
  assert.deepEqual(
    page.items.map(({ name }: { name: string }) => name),
    ["first-order"],
  );
  const expired = await bookmark("second-order");
  assert.deepEqual([expired.status, expired.body.error.code], [404, "not_found"]);
  assert.match(expired.body.error.message, /retention/);
  await ingest.send(who, "DELETE", `${sourcesPath}/${source.id}`);
  assert.equal((await ingest.send(who, "GET", `${bookmarksPath}/first-order`)).status, 404);
});

test("a name is taken once, and an account has a bounded number of bookmarks and of their bytes", async () => {
  const who = testPerson();
  const { bookmark } = await received(who);
  assert.equal((await bookmark("one")).status, 201);
  const taken = await bookmark("one");
  assert.deepEqual([taken.status, taken.body.error.details[0].field], [409, "name"]);
  for (const name of ["", "a b", "-a", "a/b", "é", "x".repeat(65)]) {
    const { status, body } = await bookmark(name);
    assert.deepEqual([status, body.error.details[0].field], [422, "name"], name);
  }
  const both = await Promise.all([bookmark("two"), bookmark("three")]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409], "the limit holds for two at once");
  const [refused] = both.filter(({ status }) => status === 409);
  assert.equal(refused?.body.error.details[0].code, "too_many");
  assert.equal((await ingest.send(who, "DELETE", `${bookmarksPath}/one`)).status, 204);
  assert.equal((await ingest.send(who, "DELETE", `${bookmarksPath}/one`)).status, 404);
  const grow = "update bookmarks set body = decode(repeat('00', 16 * 1024 * 1024), 'hex') where account_id = $1";
  await ingest.pool.query({ name: "", text: grow }, [who.accountId]);
  const large = await bookmark("four");
  assert.deepEqual([large.status, large.body.error.details[0].code], [409, "too_many"]);
});

test("a bookmark of another account is missing, and reading and writing need their scopes", async () => {
  const who = testPerson();
  const { bookmark, path } = await received(who);
  await bookmark("mine");
  const stranger = testPerson();
  for (const [method, target] of [
    ["GET", `${bookmarksPath}/mine`],
    ["GET", `${bookmarksPath}/mine/body`],
    ["DELETE", `${bookmarksPath}/mine`],
  ] as const)
    assert.equal((await ingest.send(stranger, method, target)).status, 404, target);
  assert.equal((await bookmark("theirs", stranger)).status, 404);
  assert.deepEqual((await ingest.send(stranger, "GET", bookmarksPath)).body.items, []);
  const reader = testPerson({ accountId: who.accountId, scopes: ["webhooks:read"] });
  assert.equal((await bookmark("read-only", reader)).status, 403);
  assert.equal((await ingest.send(reader, "GET", `${bookmarksPath}/mine`)).status, 200);
  assert.equal((await ingest.send(null, "POST", `${path}/bookmark`, { body: { name: "x" } })).status, 401);
});

test("a bookmark is made, listed and deleted in GraphQL, with the refusals of REST", async () => {
  const who = testPerson();
  const { source, webhook } = await received(who);
  const make = `mutation($source: ID!, $id: ID!, $name: String!) {
    it: bookmarkReceivedWebhook(sourceId: $source, id: $id, input: { name: $name }) {
      webhookBookmark { name deliveryId bodyBytes } errors { field code }
    }
  }`;
  const keys = { source: source.id, id: webhook.id, name: "graph" };
  assert.equal((await ingest.graphql(who, make, keys)).data.it.webhookBookmark.name, "graph");
  const again = await ingest.graphql(who, make, keys);
  assert.equal(again.errors[0].extensions.code, "CONFLICT");
  const listing = `query($of: [_Any!]!) { _entities(representations: $of) {
    ... on Account { webhookBookmarks { edges { node { name receivedAt } } } } } }`;
  const { data } = await ingest.graphql(who, listing, { of: [{ __typename: "Account", id: who.accountId }] });
  assert.equal(data._entities[0].webhookBookmarks.edges[0].node.name, "graph");
  const remove =
    'mutation { it: deleteWebhookBookmark(name: "graph") { deletedWebhookBookmarkName errors { field } } }';
  assert.equal((await ingest.graphql(who, remove)).data.it.deletedWebhookBookmarkName, "graph");
});
