import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { draft, eventOf } from "@signalbox/contracts";
import { schemaDifference } from "@signalbox/storage/authoring";
import { eventually, readFixture, type TestPerson, testDatabase, testPerson } from "@signalbox/testing";
import { type Harness, prismaDirectory, startImages } from "./harness.ts";

let images: Harness;
let pixel: Buffer;
before(async () => {
  [images, pixel] = await Promise.all([startImages(), readFixture("one-pixel.png")]);
});
after(() => images.close());

const uploaded = async (who: TestPerson, fields: Record<string, string> = {}) =>
  (await images.upload(who, pixel, fields)).body;

test("a patch changes the given members alone, with one event if there are any", async () => {
  const who = testPerson();
  const { id, updated_at } = await uploaded(who, { title: "Before", caption: "kept" });
  const path = `/images/${id}`;
  const changes = { title: null, tags: ["a", "b", "a"], filename: "new.png", focal_point: { x: 0.25, y: 1 } };
  const first = await images.send(who, "PATCH", path, { body: changes });
  assert.equal(first.status, 200);
  assert.deepEqual([first.body.title, first.body.caption, first.body.tags], [null, "kept", ["a", "b"]]);
  assert.deepEqual([first.body.filename, first.body.focal_point], ["new.png", { x: 0.25, y: 1 }]);
  assert.notEqual(first.body.updated_at, updated_at);

  const again = await images.send(who, "PATCH", path, { body: changes });
  assert.deepEqual(again.body, first.body);
  assert.equal(again.headers.get("etag"), first.headers.get("etag"));
  const updates = await images.eventsOf(who.accountId, 1, "image.updated");
  assert.equal(updates.length, 1);
  assert.deepEqual((updates[0]?.data as { changed: string[] } | undefined)?.changed, [
    "title",
    "filename",
    "tags",
    "focal_point",
  ]);
});

test("a put replaces the five fields but not visibility or focal point", async () => {
  const who = testPerson();
  const { id } = await uploaded(who, { title: "T", caption: "C", alt_text: "A", tags: "x", visibility: "public" });
  const { status, body } = await images.send(who, "PUT", `/images/${id}`, { body: { filename: "f.png" } });
  assert.equal(status, 200);
  assert.deepEqual(
    [body.title, body.caption, body.alt_text, body.tags, body.visibility],
    [null, null, null, [], "public"],
  );
  const lacking = await images.send(who, "PUT", `/images/${id}`, { body: { title: "x" } });
  assert.deepEqual([lacking.status, lacking.body.error.field], [422, "filename"]);
});

test("read-only, unknown or invalid members are 422 with every failing field", async () => {
  const who = testPerson();
  const { id } = await uploaded(who);
  const json = { id: "x", colour: 1, tags: null, filename: "a/b", focal_point: { x: 2, y: 0 } };
  const { status, body } = await images.send(who, "PATCH", `/images/${id}`, { body: json });
  assert.equal(status, 422);
  const fields = body.error.details.map(({ field }: { field: string }) => field).sort();
  assert.deepEqual(fields, ["colour", "filename", "focal_point.x", "id", "tags"]);
});

test("a write based on an outdated version is 409", async () => {
  const who = testPerson();
  const created = await images.upload(who, pixel);
  const path = `/images/${created.body.id}`;
  const headers = { "if-match": created.headers.get("etag") ?? "" };
  assert.equal((await images.send(who, "PATCH", path, { headers, body: { title: "one" } })).status, 200);
  assert.equal((await images.send(who, "PATCH", path, { headers, body: { title: "two" } })).status, 409);
  assert.equal((await images.send(who, "DELETE", path, { headers })).status, 409);
  assert.equal((await images.send(who, "GET", path)).body.title, "one");
});

test("a deleted image is missing, with one event", async () => {
  const who = testPerson();
  const { id } = await uploaded(who, { visibility: "public" });
  assert.equal((await images.send(who, "DELETE", `/images/${id}`)).status, 204);
  for (const path of [`/images/${id}`, `/images/${id}/content`, `/images/${id}/original`]) {
    assert.equal((await images.send(who, "GET", path)).status, 404, path);
  }
  assert.equal((await images.send(who, "DELETE", `/images/${id}`)).status, 404);
  const events = await images.eventsOf(who.accountId, 3);
  assert.equal(events.filter(({ name }) => name === "image.deleted").length, 1);
});

test("an image of another account reads as missing on every route", async () => {
  const [owner, other] = [testPerson(), testPerson()];
  const { id } = await uploaded(owner);
  for (const path of ["", "/content", "/original"]) {
    assert.equal((await images.send(other, "GET", `/images/${id}${path}`)).status, 404, path);
  }
  assert.equal((await images.send(other, "PATCH", `/images/${id}`, { body: { title: "mine" } })).status, 404);
  assert.equal((await images.send(other, "PUT", `/images/${id}`, { body: { filename: "f" } })).status, 404);
  assert.equal((await images.send(other, "DELETE", `/images/${id}`)).status, 404);
  assert.equal((await images.send(owner, "GET", `/images/${id}`)).status, 200);
});

test("pages show every image that the filters admit once, newest first", async () => {
  const who = testPerson();
  const ids: string[] = [];
  for (let count = 0; count < 5; count++) {
    const fields = { tags: count % 2 ? "odd" : "even", visibility: count === 0 ? "public" : "private" };
    ids.unshift((await uploaded(who, fields)).id);
  }
  const seen: string[] = [];
  let path: string | null = "/images?limit=2";
  while (path) {
    const { status, body } = await images.send(who, "GET", path);
    assert.equal(status, 200);
    seen.push(...body.items.map(({ id }: { id: string }) => id));
    assert.equal(body.has_more, "next_cursor" in body);
    path = body.has_more ? `/images?limit=2&cursor=${body.next_cursor}` : null;
  }
  assert.deepEqual([...seen].sort(), [...ids].sort());
  const idsOf = async (query: string) =>
    (await images.send(who, "GET", `/images?${query}`)).body.items.map(({ id }: { id: string }) => id);
  assert.equal((await idsOf("tag=odd")).length, 2);
  assert.equal((await idsOf("tag=even&visibility=public")).length, 1);
  assert.equal((await idsOf("mime_type=image/png")).length, 5);
  assert.equal((await idsOf("mime_type=image/jpeg")).length, 0);
  assert.equal((await idsOf("created_after=2000-01-01T00:00:00Z&created_before=2001-01-01T00:00:00Z")).length, 0);
  for (const query of [
    "limit=101",
    "limit=0",
    "cursor=nonsense",
    "colour=red",
    "created_after=yesterday",
    "visibility=x",
  ]) {
    assert.equal((await images.send(who, "GET", `/images?${query}`)).status, 400, query);
  }
});

test("when an account is purged its images go, with an event for each", async () => {
  const [who, other] = [testPerson(), testPerson()];
  const owned = [await uploaded(who), await uploaded(who)];
  const kept = await uploaded(other);
  const data = { ...eventOf("account.deleted").example, id: who.accountId };
  await images.publish(draft("account.deleted", { subject: who.accountId, accountId: who.accountId, data }));
  await eventually(async () => (await images.send(who, "GET", "/images")).body.items.length === 0);
  const events = await images.eventsOf(who.accountId, 6);
  const deleted = events.filter(({ name }) => name === "image.deleted").map(({ subject }) => subject);
  assert.deepEqual(deleted.sort(), owned.map(({ id }) => id).sort());
  assert.equal((await images.send(other, "GET", `/images/${kept.id}`)).status, 200);
});

test("GraphQL shows an account's images, changes and deletes them by the same rules", async () => {
  const who = testPerson();
  const { id } = await uploaded(who, { title: "T" });
  const list = `query ($id: ID!) { _entities(representations: [{ __typename: "Account", id: $id }]) {
    ... on Account { images(first: 10) { edges { node { id title altText variants { name } } } pageInfo { hasNextPage } } } } }`;
  const listed = await images.graphql(who, list, { id: who.accountId });
  const { edges, pageInfo } = listed.data._entities[0].images;
  assert.deepEqual([edges.length, edges[0].node.id, edges[0].node.title, pageInfo.hasNextPage], [1, id, "T", false]);
  assert.deepEqual(
    edges[0].node.variants.map(({ name }: { name: string }) => name),
    ["thumbnail", "small", "medium", "large"],
  );

  const update = `mutation ($id: ID!, $input: UpdateImageInput!) {
    updateImage(id: $id, input: $input) { image { altText focalPoint { x } } errors { field message } } }`;
  const changed = await images.graphql(who, update, { id, input: { altText: "A", focalPoint: { x: 0.5, y: 0.5 } } });
  assert.deepEqual(changed.data.updateImage, { image: { altText: "A", focalPoint: { x: 0.5 } }, errors: [] });
  const refused = await images.graphql(who, update, { id, input: { filename: "a/b" } });
  assert.equal(refused.data.updateImage.errors[0].field, "filename");
  const foreign = await images.graphql(testPerson(), update, { id, input: { title: "mine" } });
  assert.equal(foreign.errors[0].extensions.code, "NOT_FOUND");
  const removed = await images.graphql(who, "mutation ($id: ID!) { deleteImage(id: $id) { deletedImageId } }", { id });
  assert.equal(removed.data.deleteImage.deletedImageId, id);
  assert.equal((await images.send(who, "GET", `/images/${id}`)).status, 404);
});

test("the migrations match the Prisma schema", async () => {
  const database = await testDatabase();
  try {
    assert.equal(await schemaDifference(prismaDirectory, database.url), "");
  } finally {
    await database.close();
  }
});
