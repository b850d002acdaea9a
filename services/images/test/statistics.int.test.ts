import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { draft, eventOf } from "@signalbox/contracts";
import { freshBatch } from "@signalbox/service";
import { sql } from "@signalbox/storage";
import { eventually, readFixture, type TestPerson, testPerson } from "@signalbox/testing";
import { renderedEntry } from "../src/statistics/image-statistics.ts";
import { type Harness, startImages } from "./harness.ts";

let images: Harness;
before(async () => {
  images = await startImages();
});
after(() => images.close());

const path = "/images/statistics";

const count = async (text: string, id: string): Promise<number> =>
  (await images.pool.query(sql("", text), [id])).rows.length;
const rowsOf = (id: string) => count("select 1 from signalbox.statistics where subject_id = $1", id);
const freshOf = (id: string) => count("select 1 from signalbox.fresh_statistics where strpos(batch, $1) > 0", id);
const marksOf = (id: string) => count("select 1 from purged_accounts where id = $1", id);

async function read(who: TestPerson, query = "group_by=format"): Promise<unknown[][]> {
  const { status, body, text } = await images.send(who, "GET", `${path}?${query}`);
  assert.equal(status, 200, text);
  return body.totals
    .map((one: Record<string, unknown>) => [one.format, one.rendered, one.served, one.not_modified, one.bytes])
    .toSorted();
}

async function uploaded(who: TestPerson, visibility = "public") {
  const photo = await readFixture("photo.jpg");
  const { id } = (await images.upload(who, photo, { visibility })).body;
  const show = (by: TestPerson | null, query: string, headers: Record<string, string> = {}, method = "GET") =>
    images.send(by, method, `/images/${id}/${query}`, { headers });
  return { id, photo, show };
}

test("what is shown, to others too, counts by format for the owner", async () => {
  const [who, other] = [testPerson(), testPerson()];
  const { photo, show } = await uploaded(who);
  const webp = await show(who, "content?width=64&format=webp");
  const again = await show(null, "content?width=64&format=webp");
  const byOther = await show(other, "content?width=64&format=webp");
  const png = await show(null, "content?width=64&format=png");
  for (const { status } of [webp, again, byOther, png]) assert.equal(status, 200);
  const part = await show(null, "content?width=64&format=png", { range: "bytes=0-9" });
  assert.deepEqual([part.status, part.bytes.length], [206, 10]);
  const known = { "if-none-match": webp.headers.get("etag") ?? "" };
  assert.equal((await show(null, "content?width=64&format=webp", known)).status, 304);
  assert.equal((await show(who, "original")).status, 200);
  const etag = (await show(who, "original", { range: "bytes=0-0" })).headers.get("etag") ?? "";
  assert.equal((await show(who, "original", { "if-none-match": etag })).status, 304);
  // None of these has content.
  assert.equal((await show(null, "content?width=64&format=png", {}, "HEAD")).status, 200);
  assert.equal((await show(null, "content?width=64&format=png", { range: "bytes=999999999-" })).status, 416);
  assert.equal((await show(other, "original")).status, 404);

  const expected = [
    ["original", 0, 2, 1, photo.length + 1],
    ["png", 1, 2, 0, png.bytes.length + 10],
    ["webp", 1, 3, 1, 3 * webp.bytes.length],
  ];
  await eventually(async () => assert.deepEqual(await read(who), expected));
  await eventually(async () => (await freshOf(who.accountId)) === 0);
  assert.deepEqual(await read(who), expected, "folded");
  const all = [[null, 2, 7, 2, photo.length + 11 + png.bytes.length + 3 * webp.bytes.length]];
  assert.deepEqual(await read(who, "bucket=1m"), all);
  assert.deepEqual(await read(who, "bucket=1d&format=web*"), [[null, 1, 3, 1, 3 * webp.bytes.length]]);
  assert.deepEqual(await read(other), [], "a viewer has no figures of it");
});

test("named variants of the worker count once, however often it answers", async () => {
  const who = testPerson();
  const { id } = await uploaded(who);
  const job = await eventually(async () => {
    const events = await images.eventsOf(who.accountId, 2);
    return events.find(({ name }) => name === "image.render_requested") ?? null;
  });
  const { job_id, attempt, renditions } = job.data as {
    job_id: string;
    attempt: number;
    renditions: { name: string; key: string; format: string }[];
  };
  const made = { width: 1, height: 1, size_bytes: 1, sha256: "0".repeat(64) };
  const data = {
    ...eventOf("image.rendered").example,
    job_id,
    image_id: id,
    attempt,
    outcome: "rendered",
    placeholder: null,
    failure: null,
    duration_ms: 1,
    renditions: renditions.map(({ name, key, format }) => ({ name, key, mime_type: `image/${format}`, ...made })),
  };
  const answer = () =>
    images.publish(draft("image.rendered", { subject: id, accountId: who.accountId, data: data as never }));
  await answer();
  const expected = [
    ["jpeg", 4, 0, 0, 0],
    ["webp", 1, 0, 0, 0],
  ];
  await eventually(async () => assert.deepEqual(await read(who), expected));
  await answer();
  // Answers are handled in their order: this one is behind the repetition.
  const last = { ...data, renditions: [{ ...made, name: null, key: "renditions/last", mime_type: "image/avif" }] };
  await images.publish(draft("image.rendered", { subject: id, accountId: who.accountId, data: last as never }));
  await eventually(async () => assert.deepEqual(await read(who), [["avif", 1, 0, 0, 0], ...expected]));
});

test("a deleted account leaves no figures, not even those that are saved late", async () => {
  const who = testPerson();
  const { show } = await uploaded(who);
  assert.equal((await show(null, "content?width=64&format=webp")).status, 200);
  await eventually(async () => (await read(who, "format=webp"))[0]?.[2] === 1);
  await eventually(async () => (await rowsOf(who.accountId)) > 0);
  const data = { ...eventOf("account.deleted").example, id: who.accountId };
  await images.publish(draft("account.deleted", { subject: who.accountId, accountId: who.accountId, data }));
  await eventually(async () => (await marksOf(who.accountId)) === 1);
  await eventually(async () => (await rowsOf(who.accountId)) === 0);
  const late = freshBatch([renderedEntry(who.accountId, "image/webp", new Date())]);
  await images.pool.query(sql("", "insert into signalbox.fresh_statistics (batch) values ($1)"), [late]);
  await eventually(async () => (await freshOf(who.accountId)) + (await rowsOf(who.accountId)) === 0);
  assert.equal(await marksOf(who.accountId), 1, "marked while figures may come");
  const anHour = "update purged_accounts set purged_at = purged_at - interval '1 hour' where id = $1";
  await images.pool.query(sql("", anHour), [who.accountId]);
  await eventually(async () => (await marksOf(who.accountId)) === 0);
});

test("the graph has the figures of the account", async () => {
  const who = testPerson();
  const { show } = await uploaded(who, "private");
  const { bytes } = await show(who, "content?width=64&format=webp");
  await eventually(async () => assert.deepEqual(await read(who), [["webp", 1, 1, 0, bytes.length]]));
  const query = `query($of: [_Any!]!) { _entities(representations: $of) { ... on Account {
    imageStatistics(groupBy: "format", bucket: "1d") { bucket totals { start format rendered served notModified bytes }
      items { format bytes } } } } }`;
  const of = [{ __typename: "Account", id: who.accountId }];
  const { data, errors } = await images.graphql(who, query, { of });
  assert.equal(errors, undefined, JSON.stringify(errors));
  const [{ imageStatistics: shown }] = data._entities;
  const total = { start: null, format: "webp", rendered: 1, served: 1, notModified: 0, bytes: bytes.length };
  assert.deepEqual([shown.bucket, shown.totals], ["1d", [total]]);
  const sum = shown.items.reduce((all: number, one: { bytes: number }) => all + one.bytes, 0);
  assert.equal(sum, bytes.length);
  const foreign = await images.graphql(testPerson(), query, { of });
  assert.equal(foreign.data._entities[0]?.imageStatistics ?? null, null);
});

test("a wrong query or a caller without scope gets no statistics", async () => {
  const who = testPerson();
  const { status, body } = await images.send(who, "GET", `${path}?group_by=error`);
  assert.equal(status, 400);
  assert.match(body.error.details[0].message, /format, with commas between them; not error/);
  for (const [query, field] of [
    ["bucket=2h", "bucket"],
    ["from=yesterday", "from"],
    ["bucket=1m&from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z", "from"],
    ["fromat=webp", "fromat"],
  ]) {
    const answer = await images.send(who, "GET", `${path}?${query}`);
    assert.deepEqual([answer.status, answer.body.error.details[0].field], [400, field], query);
  }
  assert.equal((await images.send(null, "GET", path)).status, 401);
});
