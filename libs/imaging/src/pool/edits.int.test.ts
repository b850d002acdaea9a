import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sharp from "sharp";
import type { Rendition } from "../formats/rendition.ts";
import { halves, openTestPool, plain, type TestPool } from "./test-pool.ts";

let images: TestPool;
before(async () => {
  images = await openTestPool();
});
after(() => images.close());

/** Reads the red, green, blue and alpha of one pixel. */
async function pixelAt(bytes: Buffer, left: number, top: number): Promise<number[]> {
  const one = sharp(bytes).ensureAlpha().extract({ left, top, width: 1, height: 1 });
  return [...(await one.raw().toBuffer())];
}
const [red, blue] = [
  [255, 0, 0, 255],
  [0, 0, 255, 255],
];
const whole = { width: null, format: "png" } as const;

test("a crop shows its rectangle of the picture as it is seen, in each type of original", async () => {
  // Turned by its orientation: red above, blue below.
  const turned = await halves(80, 60)
    .withMetadata({ orientation: 6 })
    .jpeg({ quality: 100, chromaSubsampling: "4:4:4" })
    .toBuffer();
  const made = await images.render(turned, { ...whole, crop: { left: 10, top: 30, width: 40, height: 20 } });
  assert.deepEqual([made.width, made.height], [40, 20]);
  const [[above = 0], [, , below = 0]] = [await pixelAt(made.bytes, 20, 2), await pixelAt(made.bytes, 20, 17)] as [
    number[],
    number[],
  ];
  assert.ok(above > 240 && below > 240, `${above} ${below}`);
  for (const original of [
    halves(80, 60).png(),
    halves(80, 60).webp({ lossless: true }),
    halves(80, 60).tiff({ compression: "lzw" }),
  ]) {
    const { bytes } = await images.render(await original.toBuffer(), {
      ...whole,
      crop: { left: 30, top: 0, width: 20, height: 60 },
      width: 10,
    });
    assert.deepEqual([await pixelAt(bytes, 1, 5), await pixelAt(bytes, 8, 5)], [red, blue]);
  }
});

test("a rotation turns the cropped picture clockwise, before it is scaled", async () => {
  const original = await halves(80, 40).png().toBuffer();
  const at = async (rotate: 90 | 180 | 270, left: number, top: number) =>
    pixelAt((await images.render(original, { ...whole, rotate })).bytes, left, top);
  assert.deepEqual([await at(90, 20, 5), await at(90, 20, 75)], [red, blue]);
  assert.deepEqual([await at(180, 5, 20), await at(180, 75, 20)], [blue, red]);
  assert.deepEqual([await at(270, 20, 5), await at(270, 20, 75)], [blue, red]);
  const { width, height } = await images.render(original, { ...whole, rotate: 90, width: 20 });
  assert.deepEqual([width, height], [20, 40]);
});

test("borders of one colour are cut off before the size", async () => {
  const picture = await halves(40, 20).png().toBuffer();
  const border = { left: 30, right: 10, top: 20, bottom: 20, background: "#fff" };
  const framed = await sharp(picture).extend(border).png().toBuffer();
  const trimmed = await images.render(framed, { ...whole, trim: true });
  assert.deepEqual([trimmed.width, trimmed.height], [40, 20]);
  assert.deepEqual([await pixelAt(trimmed.bytes, 2, 10), await pixelAt(trimmed.bytes, 37, 10)], [red, blue]);
  const turned = await images.render(framed, { ...whole, trim: true, rotate: 90, width: 10, pad: 3 });
  assert.deepEqual([turned.width, turned.height], [16, 26]);
  const blank = await images.render(await plain(30, 20).png().toBuffer(), { ...whole, trim: true });
  assert.deepEqual([blank.width, blank.height], [30, 20]);
});

test("a blur mixes neighbours", async () => {
  const { bytes } = await images.render(await halves(80, 40).png().toBuffer(), { ...whole, blur: 8 });
  const [r = 0, , b = 0] = await pixelAt(bytes, 40, 20);
  assert.ok(r > 90 && r < 165 && b > 90 && b < 165, `${r} ${b}`);
  const [far = 0] = await pixelAt(bytes, 1, 20);
  assert.ok(far > 240);
});

test("round corners are transparent, or the background where a format has no transparency", async () => {
  const original = await plain(60, 40).png().toBuffer();
  const rounded = (change: Partial<Rendition>) => images.render(original, { ...whole, round: 20, ...change });
  const { bytes } = await rounded({});
  const corners = [
    [0, 0],
    [59, 0],
    [0, 39],
    [59, 39],
  ] as const;
  for (const [x, y] of corners) assert.equal((await pixelAt(bytes, x, y))[3], 0, `${x} ${y}`);
  assert.deepEqual(await pixelAt(bytes, 30, 0), [0x12, 0x34, 0x56, 255]);
  const [r = 0, g = 0] = await pixelAt((await rounded({ format: "jpeg", background: "00ff00" })).bytes, 0, 0);
  assert.ok(r < 30 && g > 220, `${r} ${g}`);
});

test("a margin has the background, or is transparent", async () => {
  const original = await plain(60, 40).png().toBuffer();
  const padded = (change: Partial<Rendition>) => images.render(original, { ...whole, pad: 5, ...change });
  const clear = await padded({});
  assert.deepEqual([clear.width, clear.height], [70, 50]);
  assert.deepEqual([(await pixelAt(clear.bytes, 2, 25))[3], (await pixelAt(clear.bytes, 5, 5))[3]], [0, 255]);
  const green = await padded({ width: 20, height: 20, fit: "contain", background: "00ff00", round: 4 });
  assert.deepEqual([green.width, green.height], [30, 30]);
  assert.deepEqual(await pixelAt(green.bytes, 1, 15), [0, 255, 0, 255]);
  assert.deepEqual(await pixelAt(green.bytes, 15, 15), [0x12, 0x34, 0x56, 255]);
});

test("a frame of an animation is shown by its number", async () => {
  const frames = await Promise.all([halves(40, 20), plain(40, 20)].map((frame) => frame.png().toBuffer()));
  for (const moving of [
    sharp(frames, { join: { animated: true } }).gif(),
    sharp(frames, { join: { animated: true } }).webp({ lossless: true }),
  ]) {
    const made = await images.render(await moving.toBuffer(), { ...whole, frame: 2 });
    assert.deepEqual(await pixelAt(made.bytes, 2, 10), [0x12, 0x34, 0x56, 255]);
  }
});

test("an edited animation is a still of its first frame", async () => {
  const frames = await Promise.all([halves(40, 20), plain(40, 20)].map((frame) => frame.png().toBuffer()));
  const moving = await sharp(frames, { join: { animated: true } })
    .gif()
    .toBuffer();
  const made = await images.render(moving, { width: null, format: "gif", rotate: 180 });
  assert.deepEqual([(await sharp(made.bytes).metadata()).pages ?? 1, made.height], [1, 20]);
  assert.deepEqual(await pixelAt(made.bytes, 2, 10), blue);
});
