import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { draft, eventOf } from "@signalbox/contracts";
import type { ReceivedEvent } from "@signalbox/events";
import { sql } from "@signalbox/storage";
import { eventually, readFixture, type TestPerson, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

type Job = ReceivedEvent<"image.render_requested">;

const base = "/images/transformations";
const card = { width: 60, height: 40, fit: "cover", format: "png" };
let images: Harness;
before(async () => {
  images = await startImages({ "images.public.transforms": "named" });
});
after(() => images.close());

const set = (who: TestPerson, name: string, form: object, eager = false, headers: Record<string, string> = {}) =>
  images.send(who, "PUT", `${base}/${name}`, { body: { form, eager }, headers });
const uploaded = async (who: TestPerson, fields: Record<string, string> = {}) =>
  (await images.upload(who, await readFixture("photo.jpg"), fields)).body;
const show = (who: TestPerson | null, id: string, query: string) =>
  images.send(who, "GET", `/images/${id}/content?${query}`);
const pathOf = (url: string) => url.replace(/^https?:\/\/[^/]+/, "");
/** Reads width and height from the header of a PNG (RFC 2083 §4.1.1). */
const sizeOf = (bytes: Buffer) => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
const fieldsOf = ({
  body,
}: {
  readonly body: { readonly error: { readonly details: { readonly field: string }[] } };
}) => body.error.details.map(({ field }) => field);

test("a transformation is created by its name, shown, listed", async () => {
  const who = testPerson();
  const made = await set(who, "card", card);
  assert.deepEqual([made.status, made.headers.get("location")], [201, `${base}/card`]);
  const { name, form, eager, version } = made.body;
  assert.deepEqual({ name, form, eager, version }, { name: "card", form: card, eager: false, version: 1 });
  const found = await images.send(who, "GET", `${base}/card`);
  assert.deepEqual([found.status, found.body, found.headers.get("etag")], [200, made.body, made.headers.get("etag")]);
  await set(who, "hero", {});
  const { items } = (await images.send(who, "GET", base)).body;
  assert.deepEqual(
    items.map((one: { name: string }) => one.name),
    ["hero", "card"],
  );
});

test("a transformation of another account reads as missing", async () => {
  const who = testPerson();
  await set(who, "card", card);
  const other = testPerson();
  assert.equal((await images.send(other, "GET", `${base}/card`)).status, 404);
  assert.equal((await images.send(other, "DELETE", `${base}/card`)).status, 404);
});

test("an equal form leaves no trace", async () => {
  const who = testPerson();
  const first = await set(who, "card", card);
  const again = await set(who, "card", { ...card });
  assert.deepEqual([again.status, again.body, again.headers.get("etag")], [200, first.body, first.headers.get("etag")]);
  await set(who, "card", card, true);
  const entries = (await images.auditOf(who.accountId, 2)).map(({ data }) => data as { action: string });
  assert.deepEqual(
    entries.map(({ action }) => action),
    ["image_transformation.set", "image_transformation.set"],
  );
});

test("a version grows with every form that a name had, even after a deletion", async () => {
  const who = testPerson();
  const first = await set(who, "card", card);
  const eager = await set(who, "card", card, true);
  assert.equal(eager.body.version, first.body.version, "the form is the same");
  const second = await set(who, "card", { ...card, width: 61 });
  assert.ok(second.body.version > first.body.version);
  assert.equal((await images.send(who, "DELETE", `${base}/card`)).status, 204);
  assert.equal((await images.send(who, "DELETE", `${base}/card`)).status, 404);
  const third = await set(who, "card", card);
  assert.deepEqual([third.status, third.body.version > second.body.version], [201, true]);
});

test("a change of what nobody has seen is refused", async () => {
  const who = testPerson();
  const { headers } = await set(who, "card", card);
  const seen = { "if-match": headers.get("etag") ?? "" };
  assert.equal((await set(who, "card", { width: 1 }, false, seen)).status, 200);
  assert.equal((await set(who, "card", { width: 2 }, false, seen)).status, 409);
  for (const header of [seen, { "if-match": "*" }])
    assert.equal((await set(who, "hero", { width: 2 }, false, header)).status, 409);
  assert.equal((await set(who, "card", { width: 3 }, false, { "if-match": "*" })).status, 200);
});

test("a name or a form against the rules is refused with its member", async () => {
  const who = testPerson();
  for (const name of ["Card", "2x", "thumbnail", "a".repeat(33)]) {
    const refused = await set(who, name, card);
    assert.deepEqual([refused.status, fieldsOf(refused)], [422, ["name"]], name);
  }
  for (const [form, field] of [
    [{ width: 0 }, "form.width"],
    [{ colour: 1 }, "form.colour"],
    [{ transformation: "card" }, "form.transformation"],
    [{ width: 3_000, dpr: 2 }, "form.width"],
  ] as const) {
    const refused = await set(who, "card", form);
    assert.deepEqual([refused.status, fieldsOf(refused)], [422, [field]]);
  }
});

test("an account has at most 50 transformations", async () => {
  const who = testPerson();
  for (let index = 1; index <= 50; index++) assert.equal((await set(who, `t${index}`, {})).status, 201);
  const refused = await set(who, "t51", {});
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [409, "too_many"]);
  assert.equal((await set(who, "t50", { width: 9 })).status, 200);
});

test("the graph has the same operations", async () => {
  const who = testPerson();
  const change = `mutation { setImageTransformation(name: "card", input: { form: { width: 60, quality: "auto" } }) {
    imageTransformation { name form eager version } errors { code } } }`;
  const { setImageTransformation } = (await images.graphql(who, change)).data;
  assert.deepEqual(setImageTransformation.imageTransformation, {
    name: "card",
    form: { width: 60, quality: "auto" },
    eager: false,
    version: 1,
  });
  const removal = 'mutation { deleteImageTransformation(name: "card") { deletedImageTransformationName } }';
  const { deleteImageTransformation } = (await images.graphql(who, removal)).data;
  assert.equal(deleteImageTransformation.deletedImageTransformationName, "card");
  assert.equal((await images.send(who, "GET", `${base}/card`)).status, 404);
});

test("content is shown in a transformation, beside which only format, dpr, version or tracking may stand", async () => {
  const who = testPerson();
  const { id } = await uploaded(who);
  await set(who, "card", card);
  const shown = await show(who, id, "transformation=card");
  assert.deepEqual([shown.status, sizeOf(shown.bytes)], [200, [60, 40]]);
  assert.deepEqual(sizeOf((await show(who, id, "transformation=card&dpr=2&utm_source=mail")).bytes), [120, 80]);
  const webp = await show(who, id, "transformation=card&format=webp");
  assert.equal(webp.headers.get("content-type"), "image/webp");
  for (const [query, field] of [
    ["transformation=card&width=60", "width"],
    ["fit=inside&transformation=card", "fit"],
    ["transformation=hero", "transformation"],
    ["transformation=Card", "transformation"],
    ["transformation=card&dpr=4&format=png&v=1&blur=2", "blur"],
  ] as const) {
    const refused = await show(who, id, query);
    assert.deepEqual([refused.status, fieldsOf(refused)], [400, [field]], query);
  }
});

test("a form that does not fit the image is refused with the transformation", async () => {
  const who = testPerson();
  const { id } = await uploaded(who);
  await set(who, "corner", { crop: "9000,9000,10,10" });
  const refused = await show(who, id, "transformation=corner");
  assert.deepEqual([refused.status, fieldsOf(refused)], [400, ["transformation"]]);
});

test("the record has a URL of each transformation, immutable until image or form change", async () => {
  const who = testPerson();
  await set(who, "card", card);
  const { id, transformations } = await uploaded(who, { visibility: "public" });
  const record = await images.send(who, "GET", `/images/${id}`);
  assert.deepEqual(record.body.transformations, transformations);
  const cacheOf = async (path: string) => (await images.send(null, "GET", path)).headers.get("cache-control");
  const path = pathOf(transformations.card);
  assert.match((await cacheOf(path)) ?? "", /immutable/);
  await set(who, "card", { ...card, width: 61 });
  assert.equal(await cacheOf(path), "public, max-age=3600");
  const changed = await images.send(who, "GET", `/images/${id}`);
  assert.notEqual(changed.headers.get("etag"), record.headers.get("etag"));
  const current = pathOf(changed.body.transformations.card);
  assert.match((await cacheOf(current)) ?? "", /immutable/);
  await images.send(who, "PATCH", `/images/${id}`, { body: { focal_point: { x: 0, y: 0 } } });
  assert.equal(await cacheOf(current), "public, max-age=3600");
});

test("a change by another instance is shown within a second", async () => {
  const who = testPerson();
  await set(who, "card", card);
  const { id } = await uploaded(who);
  const sizes = async () => sizeOf((await show(who, id, "transformation=card")).bytes);
  assert.deepEqual(await sizes(), [60, 40]);
  const change = sql("", "update transformations set form = $2::jsonb where account_id = $1");
  await images.pool.query(change, [who.accountId, JSON.stringify({ ...card, width: 50 })]);
  await eventually(async () => (await sizes())[0] === 50);
});

test("a change is shown at once, under a URL that was answered from memory", async () => {
  const who = testPerson();
  await set(who, "card", card);
  const { id } = await uploaded(who);
  for (const width of [60, 51, 52]) {
    await set(who, "card", { ...card, width });
    for (let times = 0; times < 3; times++)
      assert.deepEqual(sizeOf((await show(who, id, "transformation=card")).bytes), [width, 40]);
  }
});

test("strangers who may see named forms alone see the transformations in any format", async () => {
  const who = testPerson();
  await set(who, "card", card);
  const { id } = await uploaded(who, { visibility: "public" });
  const statuses = async (queries: readonly string[]) =>
    Promise.all(queries.map(async (query) => (await show(null, id, query)).status));
  const queries = ["transformation=card", "transformation=card&format=webp", "transformation=card&dpr=2", "width=61"];
  assert.deepEqual(await statuses(queries), [200, 200, 403, 403]);
  assert.equal((await show(null, id, "transformation=hero")).status, 400);
});

test("a signed URL shows a transformation", async () => {
  const who = testPerson();
  const { version } = (await set(who, "card", card)).body;
  const { id } = await uploaded(who);
  const sign = (body: object) => images.send(who, "POST", `/images/${id}/signed-urls`, { body });
  const { url } = (await sign({ transformation: "card", dpr: 2, expires_in_seconds: 60 })).body;
  assert.match(url, new RegExp(`&v=[\\w-]{12}-${version}&`));
  assert.deepEqual(sizeOf((await images.send(null, "GET", pathOf(url))).bytes), [120, 80]);
  const items = [{ transformation: "card" }, { transformation: "hero" }];
  const signed = (await sign({ items, expires_in_seconds: 60 })).body;
  assert.deepEqual(
    signed.items.map((one: { outcome: string }) => one.outcome),
    ["signed", "missing"],
  );
  for (const [form, field] of [
    [{ transformation: "hero" }, "transformation"],
    [{ transformation: "card", width: 60 }, "width"],
  ] as const) {
    const refused = await sign({ ...form, expires_in_seconds: 60 });
    assert.deepEqual([refused.status, fieldsOf(refused)], [422, [field]]);
  }
});

/** Waits for the jobs of an account's images. */
const jobsOf = async (who: TestPerson, count: number): Promise<Job[]> =>
  eventually(async () => {
    const events = await images.eventsOf(who.accountId, count);
    const jobs = events.filter(({ name }) => name === "image.render_requested") as Job[];
    return jobs.length >= count ? jobs : null;
  });

test("an eager transformation is a job of its own for each new image", async () => {
  const who = testPerson();
  await set(who, "card", { ...card, format: undefined }, true);
  await set(who, "hero", { width: 70 });
  const { id } = await uploaded(who);
  const [named, eager] = await jobsOf(who, 2);
  assert.notEqual(eager?.data.job_id, named?.data.job_id);
  const made = eager?.data.renditions.map(({ name, width, height, fit, format }) => ({
    name,
    width,
    height,
    fit,
    format,
  }));
  assert.deepEqual(made, [{ name: null, width: 60, height: 40, fit: "cover", format: "jpeg" }]);
  await show(who, id, "transformation=card");
  const key = eager?.data.renditions[0]?.key ?? "";
  await eventually(async () => (await images.blobKeys()).includes(key), { message: "requests use the same key" });
  await images.send(who, "POST", `/images/${id}/reprocess`);
  const again = await jobsOf(who, 4);
  assert.equal(again[3]?.data.renditions[0]?.key, key);
});

test("an eager transformation that fails leaves the image as it is", async () => {
  const who = testPerson();
  await set(who, "card", card, true);
  const { id } = await uploaded(who);
  const [named, eager] = await jobsOf(who, 2);
  const answer = async ({ data: { job_id, image_id, attempt } }: Job, outcome: "rendered" | "failed") => {
    const failure = outcome === "failed" ? { code: "decode_failed", message: "No.", retryable: false } : null;
    const data = { job_id, image_id, attempt, outcome, failure, placeholder: null, duration_ms: 1, renditions: [] };
    await images.publish(draft("image.rendered", { subject: image_id, accountId: who.accountId, data }));
  };
  await answer(eager as Job, "failed");
  await answer(named as Job, "rendered");
  await eventually(async () => (await images.send(who, "GET", `/images/${id}`)).body.status === "ready");
});

test("the transformations of a purged account are erased", async () => {
  const who = testPerson();
  await set(who, "card", card);
  const data = { ...eventOf("account.deleted").example, id: who.accountId };
  await images.publish(draft("account.deleted", { subject: who.accountId, accountId: who.accountId, data }));
  const rows = `select from transformations where account_id = $1 union all
    select from transformation_counters where account_id = $1`;
  await eventually(async () => (await images.pool.query(sql("", rows), [who.accountId])).rowCount === 0);
});
