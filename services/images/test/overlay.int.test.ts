import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ReceivedEvent } from "@signalbox/events";
import { eventually, readFixture, type TestPerson, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

let images: Harness;
before(async () => {
  images = await startImages({ "images.render.avif-pixels": 20_000 });
});
after(() => images.close());

const who = testPerson();
const uploaded = async (owner: TestPerson, fields: Record<string, string> = {}, name = "photo.jpg" as const) =>
  (await images.upload(owner, await readFixture(name), fields)).body;
const logoOf = async (owner: TestPerson) => (await images.upload(owner, await readFixture("animated.gif"))).body;
const shown = (caller: TestPerson | null, id: string, query: string) =>
  images.send(caller, "GET", `/images/${id}/content?format=png&width=120&${query}`);
const refusalOf = ({ status, body }: Awaited<ReturnType<typeof shown>>) => [status, body.error.details?.[0]];

test("the owner sees an image with another one on top", async () => {
  const [photo, logo] = [await uploaded(who), await logoOf(who)];
  const [plain, overlaid] = [await shown(who, photo.id, ""), await shown(who, photo.id, `overlay=${logo.id}`)];
  assert.equal(overlaid.status, 200, JSON.stringify(overlaid.body));
  assert.ok(!overlaid.bytes.equals(plain.bytes));
  const place = "overlay_position=southeast&overlay_width=25&overlay_opacity=100";
  const spelled = await shown(who, photo.id, `overlay=${logo.id}&${place}`);
  assert.equal(spelled.headers.get("etag"), overlaid.headers.get("etag"));
});

test("each overlay, each place of it has an entity tag of its own", async () => {
  const [photo, logo] = [await uploaded(who), await logoOf(who)];
  const places = ["overlay_position=north", "overlay_width=50", "overlay_opacity=50", "overlay_margin=4"];
  const queries = ["", `overlay=${photo.id}`, ...["", ...places].map((place) => `overlay=${logo.id}&${place}`)];
  const tags = new Set<string | null>();
  for (const query of queries) {
    const { status, headers } = await shown(who, photo.id, query.replace(/&$/, ""));
    assert.equal(status, 200, query);
    tags.add(headers.get("etag"));
  }
  assert.equal(tags.size, queries.length);
});

test("a stranger gets no overlay on a public image without a signature", async () => {
  const [photo, logo] = [await uploaded(who, { visibility: "public" }), await logoOf(who)];
  const theirs = await logoOf(testPerson());
  assert.equal((await shown(null, photo.id, "")).status, 200);
  for (const caller of [null, testPerson()]) {
    for (const id of [logo.id, theirs.id, "img_nothing"])
      assert.equal((await shown(caller, photo.id, `overlay=${id}`)).status, 403);
  }
});

test("an overlay of another account reads as missing", async () => {
  const [photo, theirs] = [await uploaded(who), await uploaded(testPerson(), { visibility: "public" })];
  const [foreign, missing] = [
    await shown(who, photo.id, `overlay=${theirs.id}`),
    await shown(who, photo.id, "overlay=img_nothing"),
  ];
  const message = "The overlay must be an image of the same account.";
  assert.deepEqual(refusalOf(foreign), [400, { field: "overlay", code: "invalid", message }]);
  assert.deepEqual(refusalOf(missing), refusalOf(foreign));
});

test("a stored picture with a deleted overlay is shown no more", async () => {
  const [photo, logo] = [await uploaded(who), await logoOf(who)];
  const query = `overlay=${logo.id}&overlay_width=31`;
  assert.equal((await shown(who, photo.id, query)).status, 200);
  await eventually(async () => (await images.blobKeys()).some((key) => key.includes("_31_")));
  assert.equal((await shown(who, photo.id, query)).status, 200);
  await images.send(who, "DELETE", `/images/${logo.id}`);
  assert.deepEqual(refusalOf(await shown(who, photo.id, query)).slice(0, 1), [400]);
});

test("a signed URL shows its overlay to everyone until that is deleted", async () => {
  const [photo, logo] = [await uploaded(who), await logoOf(who)];
  const body = { overlay: logo.id, overlay_position: "center", width: 120, format: "png", expires_in_seconds: 600 };
  const signed = await images.send(who, "POST", `/images/${photo.id}/signed-urls`, { body });
  assert.equal(signed.status, 201, JSON.stringify(signed.body));
  const { pathname, search } = new URL(signed.body.url);
  const mine = await shown(who, photo.id, `overlay=${logo.id}&overlay_position=center`);
  const theirs = await images.send(null, "GET", pathname + search);
  assert.ok(theirs.bytes.equals(mine.bytes));
  assert.equal((await images.send(null, "GET", pathname + search.replace("center", "north"))).status, 403);
  await images.send(who, "DELETE", `/images/${logo.id}`);
  assert.equal((await images.send(null, "GET", pathname + search)).status, 400);
});

test("a parameter about an overlay without one is refused with its name", async () => {
  const { id } = await uploaded(who);
  const about = { overlay_position: "north", overlay_width: 20, overlay_opacity: 50, overlay_margin: 3 };
  for (const [name, value] of Object.entries(about)) {
    const { status, body } = await shown(who, id, `${name}=${value}`);
    assert.deepEqual([status, body.error.details[0].field], [400, name]);
    const form = { [name]: value, expires_in_seconds: 600 };
    const unsigned = await images.send(who, "POST", `/images/${id}/signed-urls`, { body: form });
    assert.deepEqual([unsigned.status, unsigned.body.error.details[0].field], [422, name]);
  }
});

test("a parameter about an overlay out of its range is 400 with its name", async () => {
  const [{ id }, logo] = [await uploaded(who), await logoOf(who)];
  for (const wrong of [
    "overlay_position=top",
    "overlay_width=0",
    "overlay_width=101",
    "overlay_opacity=0",
    "overlay_margin=1001",
  ]) {
    const { status, body } = await shown(who, id, `overlay=${logo.id}&${wrong}`);
    assert.deepEqual([status, body.error.details[0].field], [400, wrong.split("=")[0]], wrong);
  }
});

test("the worker gets the overlay of a rendition that takes too long for a request", async () => {
  const owner = testPerson();
  const [photo, logo] = [await uploaded(owner), await logoOf(owner)];
  const query = `format=avif&overlay=${logo.id}&overlay_margin=4`;
  assert.equal((await images.send(owner, "GET", `/images/${photo.id}/content?${query}`)).status, 503);
  const job = await eventually(async () => {
    const jobs = await images.eventsOf(owner.accountId, 3, "image.render_requested");
    return (
      (jobs as ReceivedEvent<"image.render_requested">[]).find(({ data }) => data.renditions[0]?.name === null) ?? null
    );
  });
  const [{ sha256 }, [rendition]] = [logo, job.data.renditions];
  const key = `originals/${owner.accountId}/${sha256}`;
  assert.deepEqual(rendition?.overlay, { key, sha256, position: "southeast", width: 25, opacity: 100, margin: 4 });
});

test("a transformation shows its overlay to strangers, until that is deleted", async () => {
  const owner = testPerson();
  const [photo, logo] = [await uploaded(owner, { visibility: "public" }), await logoOf(owner)];
  const form = { overlay: logo.id, overlay_width: 40, width: 120, format: "png" };
  const made = await images.send(owner, "PUT", "/images/transformations/branded", { body: { form, eager: true } });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const path = `/images/${photo.id}/content?transformation=branded`;
  const mine = await shown(owner, photo.id, `overlay=${logo.id}&overlay_width=40`);
  const theirs = await images.send(null, "GET", path);
  assert.ok(theirs.bytes.equals(mine.bytes));
  await images.send(owner, "DELETE", `/images/${logo.id}`);
  const refused = refusalOf(await images.send(null, "GET", path));
  assert.deepEqual([refused[0], refused[1]?.field], [400, "transformation"]);
});

test("an eager transformation has its overlay in the job of a new image", async () => {
  const owner = testPerson();
  const logo = await logoOf(owner);
  const form = { overlay: logo.id, width: 120 };
  await images.send(owner, "PUT", "/images/transformations/branded", { body: { form, eager: true } });
  await uploaded(owner);
  const overlays = await eventually(async () => {
    const events = await images.eventsOf(owner.accountId, 1);
    const jobs = events.filter(
      ({ name }) => name === "image.render_requested",
    ) as ReceivedEvent<"image.render_requested">[];
    const laid = jobs.flatMap(({ data }) =>
      data.renditions.flatMap(({ overlay }) => (overlay ? [overlay.sha256] : [])),
    );
    return laid.length > 0 && laid;
  });
  assert.deepEqual(overlays, [logo.sha256]);
});
