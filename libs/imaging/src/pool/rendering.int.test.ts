import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sharp from "sharp";
import { fits } from "../geometry.ts";
import { outputFormats, outputTraits } from "../image-formats.ts";
import type { Rendition } from "../rendition.ts";
import { sniffImage } from "../sniff-image.ts";
import { halves, noise, openTestPool, type TestPool } from "./test-pool.ts";

let images: TestPool;
before(async () => {
  images = await openTestPool();
});
after(() => images.close());

const render = (source: Buffer, change: Partial<Rendition> = {}) => images.render(source, change);

async function colourAt(bytes: Buffer, x: number, y: number) {
  const { data } = await sharp(bytes)
    .extract({ left: x, top: y, width: 1, height: 1 })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return (data[0] as number) > 200 && (data[2] as number) < 60
    ? "red"
    : (data[2] as number) > 200 && (data[0] as number) < 60
      ? "blue"
      : [...data].join();
}

test("every accepted format becomes every output format, in the promised size and type", async () => {
  const inputs = [
    await halves(120, 80).jpeg().toBuffer(),
    await halves(120, 80).png().toBuffer(),
    await halves(120, 80).gif().toBuffer(),
    await halves(120, 80).webp().toBuffer(),
    await halves(120, 80).avif({ effort: 0 }).toBuffer(),
    await halves(120, 80).tiff().toBuffer(),
  ];
  for (const input of inputs) {
    for (const format of outputFormats) {
      const made = await render(input, { format, width: 60 });
      const sniffed = sniffImage(made.bytes);
      assert.equal(sniffed.kind === "accepted" && sniffed.mimeType, outputTraits[format].mimeType);
      assert.deepEqual([made.width, made.height, made.sizeBytes], [60, 40, made.bytes.length]);
      assert.equal(await colourAt(made.bytes, 5, 20), "red");
      assert.equal(await colourAt(made.bytes, 55, 20), "blue");
    }
  }
});

test("each fit gives the planned size, on still and on animated images", async () => {
  const still = await halves(120, 80).png().toBuffer();
  const frame = (colour: string) =>
    sharp({ create: { width: 120, height: 80, channels: 3, background: colour } })
      .png()
      .toBuffer();
  const animated = await sharp([await frame("#f00"), await frame("#0f0"), await frame("#00f")], {
    join: { animated: true },
  })
    .gif()
    .toBuffer();
  const sizes = { inside: [50, 33], outside: [75, 50], cover: [50, 50], contain: [50, 50], fill: [50, 50] };
  for (const fit of fits) {
    const made = await render(still, { width: 50, height: 50, fit });
    assert.deepEqual([made.width, made.height], sizes[fit], fit);
    for (const format of ["gif", "webp"] as const) {
      const moving = await render(animated, { width: 50, height: 50, fit, format });
      assert.deepEqual([moving.width, moving.height], sizes[fit], `${fit} ${format}`);
      assert.equal((await sharp(moving.bytes).metadata()).pages, 3, `${fit} ${format}`);
    }
  }
  assert.equal((await sharp((await render(animated, { format: "jpeg" })).bytes).metadata()).pages, undefined);
});

test("orientation is applied, and place, camera and profile stay behind", async () => {
  const exif = { IFD0: { Make: "SecretCamera" }, IFD3: { GPSLatitude: "52/1 31/1 0/1" } };
  const photo = await halves(120, 80)
    .withMetadata({ orientation: 6 })
    .withExifMerge(exif)
    .keepIccProfile()
    .jpeg()
    .toBuffer();
  assert.ok(photo.includes("SecretCamera"));
  for (const format of outputFormats) {
    const made = await render(photo, { format, width: null });
    assert.deepEqual([made.width, made.height], [80, 120], format);
    assert.equal(await colourAt(made.bytes, 40, 10), "red", format);
    const kept = await sharp(made.bytes).metadata();
    assert.deepEqual(
      [kept.exif, kept.xmp, kept.iptc, kept.icc, kept.orientation ?? 1],
      [undefined, undefined, undefined, undefined, 1],
      format,
    );
    assert.ok(!made.bytes.includes("SecretCamera"), format);
  }
});

test("other colour spaces come out as sRGB with the same look", async () => {
  const cmyk = await halves(120, 80).toColourspace("cmyk").jpeg({ quality: 100 }).toBuffer();
  const wide = await halves(120, 80).withIccProfile("p3").png().toBuffer();
  const deep = await halves(120, 80).toColourspace("rgb16").png().toBuffer();
  for (const input of [cmyk, wide, deep]) {
    const made = await render(input, { format: "jpeg" });
    const { space, channels, depth } = await sharp(made.bytes).metadata();
    assert.deepEqual([space, channels, depth], ["srgb", 3, "uchar"]);
  }
  assert.equal(await colourAt((await render(wide)).bytes, 5, 5), "red");
});

test("transparency is kept where the format has it and white where it has not", async () => {
  const clear = await sharp({
    create: { width: 40, height: 40, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
  })
    .png()
    .toBuffer();
  assert.equal((await sharp((await render(clear, { format: "webp" })).bytes).metadata()).hasAlpha, true);
  assert.equal(await colourAt((await render(clear, { format: "jpeg" })).bytes, 5, 5), "255,255,255");
  const opaque = await halves(40, 20).jpeg().toBuffer();
  const padded = await render(opaque, { width: 40, height: 40, fit: "contain", format: "jpeg" });
  // JPEG lets the red of the picture bleed a little into the bar.
  for (const value of (await colourAt(padded.bytes, 20, 2)).split(",")) assert.ok(Number(value) > 245, value);
  const paddedClear = await render(opaque, { width: 40, height: 40, fit: "contain" });
  const [, , , alpha] = await sharp(paddedClear.bytes)
    .extract({ left: 20, top: 2, width: 1, height: 1 })
    .raw()
    .toBuffer();
  assert.equal(alpha, 0);
});

test("the focal point decides what a crop shows", async () => {
  const wide = await halves(300, 100).png().toBuffer();
  const at = async (x: number) =>
    colourAt((await render(wide, { width: 50, height: 50, fit: "cover", focalPoint: { x, y: 0.5 } })).bytes, 25, 25);
  assert.equal(await at(0.1), "red");
  assert.equal(await at(0.9), "blue");
});

test("the same rendition of the same bytes is the same bytes", async () => {
  const source = await halves(300, 200).jpeg().toBuffer();
  for (const format of outputFormats) {
    const [one, two] = [await render(source, { format }), await render(source, { format })];
    assert.ok(one.bytes.equals(two.bytes), format);
  }
});

test("an image that breaks off is broken, and says so in words that are for our log alone", async () => {
  const photo = await noise(600, 400).jpeg().toBuffer();
  const facts = await images.factsOf(photo);
  const { outcome } = await images.tryToRender(photo.subarray(0, photo.length / 2), facts, { format: "webp" });
  assert.equal(outcome.outcome, "broken");
});
