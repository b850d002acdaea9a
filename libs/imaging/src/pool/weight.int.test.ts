import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sharp from "sharp";
import type { Rendition } from "../formats/rendition.ts";
import { withChunk } from "./test-colours.ts";
import { anySize, noise, openTestPool, plain, type TestPool } from "./test-pool.ts";

let images: TestPool;
before(async () => {
  images = await openTestPool();
});
after(() => images.close());

const whole = (source: Buffer, change: Partial<Rendition>) =>
  images.render(source, { ...anySize, width: null, ...change });
const exif = { IFD0: { Make: "SecretCamera" } };

/** Draws a logo of eight colours: bars and a disc. */
async function logo(width: number, height: number) {
  const bars = Array.from({ length: 6 }, (_, at) => ({
    input: {
      create: {
        width: Math.floor(width / 9),
        height: Math.floor(height / (at + 2)),
        channels: 3,
        background: `#${at}4${9 - at}`,
      },
    } as const,
    left: Math.floor((at * width) / 6),
    top: 10 * at,
  }));
  const drawn = await plain(width, height).composite(bars).png().toBuffer();
  return sharp(drawn).png({ palette: true, colours: 16 }).toBuffer();
}

test("a full-size rendition weighs no more than its original in the same format, without its metadata", async () => {
  const frames = await Promise.all(
    [200, 201, 202].map((width) => logo(width, 150).then((one) => sharp(one).resize(200, 150).png().toBuffer())),
  );
  const light = {
    jpeg: await noise(300, 200).withExif(exif).jpeg({ quality: 30, mozjpeg: true }).toBuffer(),
    png: withChunk(await logo(400, 300), "tEXt", Buffer.from("Comment\0SecretCamera")),
    webp: await noise(300, 200).withExif(exif).webp({ quality: 10, effort: 6 }).toBuffer(),
    gif: await sharp(frames, { join: { animated: true } })
      .gif({ effort: 10 })
      .toBuffer(),
  };
  for (const [format, bytes] of Object.entries(light)) {
    const behind = Buffer.concat([bytes, Buffer.from("SecretCamera")]);
    const made = await whole(behind, { format: format as keyof typeof light });
    assert.ok(made.bytes.length <= bytes.length, `${format} ${made.bytes.length} of ${bytes.length}`);
    assert.equal(made.sizeBytes, made.bytes.length, format);
    assert.ok(!made.bytes.includes("SecretCamera"), format);
    const pixelsOf = (image: Buffer) => sharp(image, { animated: true }).raw().toBuffer();
    assert.ok((await pixelsOf(made.bytes)).equals(await pixelsOf(bytes)), format);
  }
});

test("an original with a profile, an orientation or more behind its pixels is encoded anew", async () => {
  const light = noise(300, 200).jpeg({ quality: 20, mozjpeg: true });
  const turned = await light.clone().withMetadata({ orientation: 6 }).toBuffer();
  const wide = await light.clone().withIccProfile("p3").toBuffer();
  for (const bytes of [turned, wide])
    assert.notEqual((await whole(bytes, { format: "jpeg" })).bytes.length, bytes.length);
  const png = await logo(400, 300);
  const at = png.indexOf("IDAT");
  const length = png.readUInt32BE(at - 4);
  const cropped = Buffer.concat([
    png.subarray(0, at - 4),
    withChunk(png, "IDAT", Buffer.concat([png.subarray(at + 4, at + 4 + length), Buffer.from("SECRET")])).subarray(
      33,
      33 + length + 18,
    ),
    png.subarray(at + 8 + length),
  ]);
  assert.ok(!(await whole(cropped, { format: "png" })).bytes.includes("SECRET"));
});

test("a palette stays a palette, also of another size", async () => {
  const bytes = await logo(400, 300);
  for (const width of [null, 360]) {
    const made = await images.render(bytes, { format: "png", width });
    assert.equal((await sharp(made.bytes).metadata()).isPalette, true);
    assert.ok(made.bytes.length < 4 * bytes.length, `${made.bytes.length} of ${bytes.length}`);
  }
});

test("a drawing in full colour gets a palette that loses no pixel", async () => {
  const opaque = await sharp(await logo(400, 300))
    .toColourspace("srgb")
    .png({ palette: false })
    .toBuffer();
  const clear = await sharp(opaque).ensureAlpha(0.5).png().toBuffer();
  for (const drawing of [opaque, clear]) {
    const made = await images.render(drawing, { format: "png", width: 360 });
    // With metadata to keep, the colours are not counted.
    const full = await images.render(drawing, { format: "png", width: 360, copyright: true });
    const [one, other] = [sharp(made.bytes), sharp(full.bytes)];
    assert.deepEqual([(await one.metadata()).isPalette, (await other.metadata()).isPalette ?? false], [true, false]);
    assert.ok((await one.raw().toBuffer()).equals(await other.raw().toBuffer()));
  }
});

test("a PNG of a photograph keeps its full colours", async () => {
  const made = await images.render(await noise(300, 200).png().toBuffer(), { format: "png", width: 150 });
  assert.notEqual((await sharp(made.bytes).metadata()).isPalette, true);
});

test("grey stays grey where nothing coloured comes beside it", async () => {
  const grey = await noise(300, 200).toColourspace("b-w").png().toBuffer();
  const channelsOf = async (change: Partial<Rendition>) =>
    (await sharp((await images.render(grey, { width: 150, ...change })).bytes).metadata()).channels;
  assert.deepEqual([await channelsOf({ format: "png" }), await channelsOf({ format: "jpeg" })], [1, 1]);
  const box = { width: 100, height: 100, fit: "contain" } as const;
  assert.equal(await channelsOf({ ...box, format: "jpeg", background: "ff0000" }), 3);
});

test("a WebP of a drawing is lossless where that is lighter, unlike that of a photograph", async () => {
  const kindOf = (bytes: Buffer) => (bytes.includes("VP8L") ? "lossless" : "lossy");
  assert.equal(kindOf((await whole(await logo(400, 300), { format: "webp" })).bytes), "lossless");
  const photo = await noise(300, 200).blur(3).toColourspace("b-w").png().toBuffer();
  assert.equal(kindOf((await whole(photo, { format: "webp" })).bytes), "lossy");
});
