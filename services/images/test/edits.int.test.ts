import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readFixture, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

let images: Harness;
before(async () => {
  images = await startImages({ "images.public.transforms": "named" });
});
after(() => images.close());

const who = testPerson();
const uploaded = async (fields: Record<string, string> = {}) =>
  (await images.upload(who, await readFixture("photo-rotated.jpg"), fields)).body;
/** Reads the header of a PNG (RFC 2083 §4.1.1): its width, height and kind of colour. */
const headerOf = (bytes: Buffer) => [bytes.readUInt32BE(16), bytes.readUInt32BE(20), bytes.readUInt8(25)] as const;
const sizeOf = (bytes: Buffer) => headerOf(bytes).slice(0, 2);
const withAlpha = [4, 6];

test("crop, rotation, blur, round corners are parameters of content", async () => {
  const { id } = await uploaded();
  const shown = (query: string) => images.send(who, "GET", `/images/${id}/content?format=png&${query}`);
  const [cropped, turned] = [await shown("crop=10,20,120,80"), await shown("crop=10,20,120,80&rotate=90&width=40")];
  assert.deepEqual(
    [sizeOf(cropped.bytes), sizeOf(turned.bytes)],
    [
      [120, 80],
      [40, 60],
    ],
  );
  const soft = await shown("width=60&blur=4&round=20");
  assert.ok(withAlpha.includes(headerOf(soft.bytes)[2]));
  assert.equal(new Set([cropped, turned, soft].map(({ headers }) => headers.get("etag"))).size, 3);
});

test("a margin comes on top of the size", async () => {
  const { id } = await uploaded();
  const shown = (query: string) => images.send(who, "GET", `/images/${id}/content?format=png&${query}`);
  assert.deepEqual(sizeOf((await shown("width=40&height=40&fit=cover&pad=7")).bytes), [54, 54]);
  assert.equal((await shown("width=4096&enlarge=true&pad=1")).status, 400);
});

test("a frame of an animation is a still", async () => {
  const { id } = (await images.upload(who, await readFixture("animated.gif"))).body;
  const shown = (query: string) => images.send(who, "GET", `/images/${id}/content?format=png${query}`);
  const [first, third, plain] = [await shown("&frame=1"), await shown("&frame=3"), await shown("")];
  assert.ok(first.bytes.equals(plain.bytes));
  assert.ok(!third.bytes.equals(first.bytes));
  assert.equal((await shown("&frame=7")).body.error.details[0].field, "frame");
});

test("an edit out of its range is 400 with its name", async () => {
  const { id, width } = await uploaded();
  const beside = `crop=${width},0,10,10`;
  for (const query of [
    beside,
    "crop=1,2,3",
    "crop=0,0,0,5",
    "rotate=45",
    "blur=51",
    "round=0",
    "pad=1001",
    "frame=2",
    "trim=1",
  ]) {
    const { status, body } = await images.send(who, "GET", `/images/${id}/content?${query}`);
    assert.deepEqual([status, body.error.details[0].field], [400, query.split("=")[0]], query);
  }
});

test("a signed URL shows its edits", async () => {
  const { id } = await uploaded();
  const body = { crop: "0,0,50,40", rotate: 90, format: "png", expires_in_seconds: 600 };
  const signed = await images.send(who, "POST", `/images/${id}/signed-urls`, { body });
  const { pathname, search } = new URL(signed.body.url);
  assert.deepEqual(sizeOf((await images.send(null, "GET", pathname + search)).bytes), [40, 50]);
});

test("strangers who are bound to named forms get no edits", async () => {
  const { id } = await uploaded({ visibility: "public" });
  for (const edit of ["crop=0,0,50,40", "rotate=90", "blur=3", "round=9", "pad=5", "frame=1", "trim=true"]) {
    assert.equal((await images.send(null, "GET", `/images/${id}/content?width=640&${edit}`)).status, 403, edit);
  }
});
