import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { seconds } from "@signalbox/core";
import { readFixture } from "@signalbox/testing";
import sharp from "sharp";
import { defaultImageLimits } from "../formats/image-limits.ts";
import { type Overlay, overlayDefaults, overlayPositions } from "../formats/overlay.ts";
import { canonicalRendition, type Rendition } from "../formats/rendition.ts";
import { renderRendition } from "./render-rendition.ts";
import { anySize, halves, openTestPool, plain, type TestPool } from "./test-pool.ts";

let images: TestPool;
before(async () => {
  images = await openTestPool();
});
after(() => images.close());

const [red, blue] = [
  [255, 0, 0, 255],
  [0, 0, 255, 255],
];
const square = (side: number, background: string) =>
  sharp({ create: { width: side, height: side, channels: 4, background } })
    .png()
    .toBuffer();
const white = (width = 100, height = 80) =>
  sharp({ create: { width, height, channels: 3, background: "#ffffff" } })
    .png()
    .toBuffer();

let made = 0;
/** Renders the image with the overlay, by the headers of both, and returns a reader of its pixels. */
async function laid(image: Buffer, above: Buffer, overlay: Partial<Overlay>, change: Partial<Rendition> = {}) {
  const [facts, overlayFacts] = [await images.factsOf(image), await images.factsOf(above)];
  const wanted = {
    ...anySize,
    width: null,
    overlay: { ...overlayDefaults, sha256: "a", facts: overlayFacts, ...overlay },
  };
  const target = join(images.folder, `overlaid-${made++}`);
  const files = { source: await images.stored(image), overlay: await images.stored(above), target };
  const rendition = canonicalRendition({ ...wanted, ...change }, facts);
  const job = { kind: "render", ...files, facts, rendition, limits: defaultImageLimits } as const;
  const { outcome } = await renderRendition(images.pool, job, { turn: "acc_1", limitMs: seconds(60) });
  assert.equal(outcome, "rendered");
  const bytes = await readFile(target);
  const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const at = (left: number, top: number) => [...data.subarray(4 * (top * info.width + left)).subarray(0, 4)];
  return { ...info, at, header: await sharp(bytes).metadata() };
}

test("an overlay is in the corner, on the edge or in the middle that its position names", async () => {
  const middles = { center: [50, 40], north: [50, 10], northeast: [90, 10], east: [90, 40], southeast: [90, 70] };
  const others = { south: [50, 70], southwest: [10, 70], west: [10, 40], northwest: [10, 10] };
  const of = { ...middles, ...others };
  for (const position of overlayPositions) {
    const { at } = await laid(await white(), await square(20, "#ff0000"), { position, width: 20 });
    for (const [name, [left = 0, top = 0]] of Object.entries(of)) {
      assert.deepEqual(at(left, top), name === position ? red : [255, 255, 255, 255], `${position} ${name}`);
    }
  }
});

test("the width of an overlay is a share of the result's, whatever its own", async () => {
  for (const side of [10, 30, 400]) {
    const { at } = await laid(await white(), await square(side, "#ff0000"), { position: "northwest", width: 30 });
    assert.deepEqual([at(29, 29), at(30, 10)[1], at(10, 30)[1]], [red, 255, 255], `${side}`);
  }
});

test("an overlay that is too tall for its width fits the height", async () => {
  const tall = await sharp({ create: { width: 10, height: 100, channels: 3, background: "#ff0000" } })
    .png()
    .toBuffer();
  const { at, width, height } = await laid(await white(), tall, { position: "center", width: 100 });
  assert.deepEqual([width, height], [100, 80]);
  assert.deepEqual([at(50, 0), at(50, 79), at(44, 40)[1], at(55, 40)[1]], [red, red, 255, 255]);
});

test("an overlay with half its opacity mixes with the image", async () => {
  const { at } = await laid(await white(), await square(20, "#000000"), {
    position: "northwest",
    width: 20,
    opacity: 50,
  });
  for (const sample of at(10, 10).slice(0, 3)) assert.ok(Math.abs(sample - 127) <= 1, `${sample}`);
  const twice = await laid(await white(), await square(20, "#00000080"), {
    position: "northwest",
    width: 20,
    opacity: 50,
  });
  for (const sample of twice.at(10, 10).slice(0, 3)) assert.ok(Math.abs(sample - 191) <= 1, `${sample}`);
});

test("a margin lies between the overlay and the edges of its position", async () => {
  const { at } = await laid(await white(), await square(20, "#ff0000"), { width: 20, margin: 5 });
  assert.deepEqual([at(75, 55), at(94, 74), at(95, 70)[1], at(90, 75)[1], at(74, 60)[1]], [red, red, 255, 255, 255]);
});

test("what is transparent in an overlay shows the image", async () => {
  const ring = await sharp(await square(20, "#ff0000"))
    .composite([{ input: await square(10, "#000000"), left: 5, top: 5, blend: "dest-out" }])
    .png()
    .toBuffer();
  const { at, header } = await laid(await white(), ring, { position: "northwest", width: 20 });
  assert.deepEqual([at(2, 2), at(10, 10)], [red, [255, 255, 255, 255]]);
  assert.equal(header.hasAlpha, false, "an opaque image stays opaque");
});

test("an overlay is turned by its orientation", async () => {
  const turned = await halves(40, 40).withMetadata({ orientation: 6 }).tiff({ compression: "lzw" }).toBuffer();
  const { at } = await laid(await white(), turned, { position: "northwest", width: 40 });
  assert.deepEqual([at(20, 5), at(20, 35)], [red, blue]);
});

test("an overlay in Display P3 is converted to sRGB", async () => {
  const wide = await plain(20, 20).withIccProfile("p3").png().toBuffer();
  const { at } = await laid(await white(), wide, { position: "northwest", width: 20 });
  for (const [nth, sample] of [0x12, 0x34, 0x56].entries())
    assert.ok(Math.abs((at(10, 10)[nth] ?? 0) - sample) <= 2, `${at(10, 10)}`);
});

test("an overlay keeps its colours on a grey image", async () => {
  const grey = await sharp(await white())
    .toColourspace("b-w")
    .png()
    .toBuffer();
  assert.deepEqual((await laid(grey, await square(20, "#ff0000"), {})).at(95, 75), red);
});

test("an animated overlay shows its first frame", async () => {
  const frames = await Promise.all([halves(40, 20), plain(40, 20)].map((frame) => frame.png().toBuffer()));
  const moving = await sharp(frames, { join: { animated: true } })
    .gif()
    .toBuffer();
  const { at } = await laid(await white(), moving, { position: "northwest", width: 40 });
  assert.deepEqual([at(2, 10), at(37, 10)], [red, blue]);
});

test("a HEIC is an overlay too", async () => {
  const heic = await readFixture("phone.heic");
  const { at } = await laid(await white(), heic, { position: "center", width: 50 });
  assert.notDeepEqual(at(50, 40), [255, 255, 255, 255]);
});

test("round corners cut the overlay, which stays off a margin of the image", async () => {
  const look = { round: 20, pad: 5, background: "00ff00" } as const;
  const { at, width } = await laid(await white(), await square(20, "#ff0000"), { width: 100 }, look);
  assert.equal(width, 110);
  assert.deepEqual([at(2, 40), at(104, 84), at(55, 45)], [[0, 255, 0, 255], [0, 255, 0, 255], red]);
});

test("a blur leaves the overlay sharp", async () => {
  const { at } = await laid(await white(), await square(20, "#ff0000"), { width: 20 }, { blur: 9 });
  assert.deepEqual([at(80, 60), at(79, 70)], [red, [255, 255, 255, 255]]);
});

test("a trimmed image has its overlay where its borders were", async () => {
  const border = { left: 30, right: 30, top: 30, bottom: 30, background: "#ffffff" };
  const framed = await sharp(await halves(40, 40).png().toBuffer())
    .extend(border)
    .png()
    .toBuffer();
  const { at, width } = await laid(framed, await square(20, "#00ff00"), { width: 25 }, { trim: true });
  assert.equal(width, 40);
  assert.deepEqual([at(39, 39), at(31, 31), at(29, 35)], [[0, 255, 0, 255], [0, 255, 0, 255], blue]);
});
