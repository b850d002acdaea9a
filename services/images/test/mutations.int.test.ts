import assert from "node:assert/strict";
import process from "node:process";
import { after, before, test } from "node:test";
import { readFixture, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

/** `npm run test:long -- fuzzing` runs more. */
const mutations = Number(process.env.IMAGE_MUTATIONS ?? 240);
const inFlight = 4;
const names = ["photo-rotated.jpg", "alpha.png", "animated.gif", "small.webp", "small.avif", "small.tiff"] as const;
const formats = ["jpeg", "png", "webp", "avif"];

let images: Harness;
before(async () => {
  images = await startImages({ "images.render.wait-max": 60_000, "limits.requestTimeoutSeconds": 60 });
});
after(() => images.close());

/** mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Mutates a real file: some of its bytes changed, cut out, doubled or cut off. */
function mutated(file: Buffer, random: () => number): Buffer {
  const place = (below: number) => Math.floor(random() * below);
  let bytes = Buffer.from(file);
  for (let times = 1 + place(4); times > 0; times--) {
    // Most faults are in the first bytes.
    const at = random() < 0.6 ? place(Math.min(512, bytes.length)) : place(bytes.length);
    const length = 1 + place(32);
    switch (place(4)) {
      case 0:
        for (let index = at; index < Math.min(bytes.length, at + length); index++) bytes[index] = place(256);
        break;
      case 1:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
        break;
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at)]);
        break;
      default:
        bytes.fill(random() < 0.5 ? 0xff : 0, at, Math.min(bytes.length, at + length));
    }
  }
  return bytes;
}

/** Markers of metadata that no rendition may carry. */
const metadata = [Buffer.from("Exif\0\0"), Buffer.from("http://ns.adobe.com/xap"), Buffer.from("GPSLatitude")];

test(`none of ${mutations} mutated files causes an internal 5xx, ends the service or leaks metadata`, async () => {
  const files = await Promise.all(names.map((name) => readFixture(name)));
  const seen = new Map<string, number>();
  const tryOne = async (seed: number) => {
    // One account alone would soon reach its rate limit.
    const who = testPerson();
    const uploaded = await images.upload(who, mutated(files[seed % files.length] as Buffer, randomOf(seed)));
    assert.ok([201, 413, 415, 422].includes(uploaded.status), `seed ${seed}: upload ${uploaded.status}`);
    seen.set(`upload ${uploaded.status}`, (seen.get(`upload ${uploaded.status}`) ?? 0) + 1);
    if (uploaded.status !== 201) return;
    for (const format of formats) {
      const shown = await images.send(who, "GET", `/images/${uploaded.body.id}/content?width=90&format=${format}`);
      assert.ok([200, 422].includes(shown.status), `seed ${seed}: ${format} ${shown.status}`);
      seen.set(`content ${shown.status}`, (seen.get(`content ${shown.status}`) ?? 0) + 1);
      for (const marker of metadata) assert.ok(!shown.bytes.includes(marker), `seed ${seed}: ${format} has ${marker}`);
    }
  };
  let next = 0;
  const work = async () => {
    while (next < mutations) await tryOne(next++);
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  assert.ok((seen.get("upload 201") ?? 0) > 0 && (seen.get("upload 422") ?? 0) > 0, JSON.stringify([...seen]));
  assert.equal((await images.upload(testPerson(), files[0] as Buffer)).status, 201);
});
