import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sharp from "sharp";
import { thumbHashToApproximateAspectRatio } from "thumbhash";
import { defaultImageLimits } from "../formats/image-limits.ts";
import { noise, openTestPool, type TestPool } from "./test-pool.ts";

let images: TestPool;
before(async () => {
  images = await openTestPool();
});
after(() => images.close());

const inspect = (bytes: Buffer, limits = defaultImageLimits) => images.inspect(bytes, limits);

test("an accepted image has its facts and its placeholder", async () => {
  const photo = await noise(600, 400).withMetadata({ orientation: 8 }).jpeg({ progressive: true }).toBuffer();
  const inspection = await inspect(photo);
  assert.equal(inspection.outcome, "accepted");
  if (inspection.outcome !== "accepted") return;
  const { facts, placeholder } = inspection;
  assert.deepEqual(facts, {
    format: "jpeg",
    mimeType: "image/jpeg",
    width: 400,
    height: 600,
    frames: 1,
    hasAlpha: false,
    isProgressive: true,
  });
  const ratio = thumbHashToApproximateAspectRatio(Buffer.from(placeholder, "base64"));
  assert.ok(Math.abs(ratio - 400 / 600) < 0.1, String(ratio));
});

test("the frames of an animation are counted, the pages of a TIFF are not frames", async () => {
  const pages = await Promise.all(
    ["#f00", "#0f0"].map((background) =>
      sharp({ create: { width: 20, height: 10, channels: 3, background } })
        .png()
        .toBuffer(),
    ),
  );
  const animated = (format: "gif" | "webp" | "tiff") =>
    sharp(pages, { join: { animated: true } })
      .toFormat(format)
      .toBuffer();
  for (const [format, frames] of [
    ["gif", 2],
    ["webp", 2],
    ["tiff", 1],
  ] as const) {
    const inspection = await inspect(await animated(format));
    assert.ok(inspection.outcome === "accepted", format);
    assert.deepEqual(
      [inspection.facts.frames, inspection.facts.width, inspection.facts.height],
      [frames, 20, 10],
      format,
    );
  }
});

test("a file truncated anywhere is broken, in every format", async () => {
  const made = [
    noise(300, 200).jpeg(),
    noise(300, 200).jpeg({ progressive: true }),
    noise(300, 200).png(),
    noise(300, 200).gif(),
    noise(300, 200).webp(),
    noise(300, 200).avif({ effort: 0 }),
    noise(300, 200).tiff(),
  ];
  for (const image of made) {
    const whole = await image.toBuffer();
    for (const part of [0.05, 0.4, 0.8]) {
      const { outcome } = await inspect(whole.subarray(0, Math.floor(whole.length * part)));
      assert.equal(outcome, "broken", `${(await sharp(whole).metadata()).format} ${part}`);
    }
  }
});

test("a JPEG that lacks only its end marker is accepted", async () => {
  for (const image of [noise(300, 200).jpeg(), noise(300, 200).jpeg({ progressive: true })]) {
    const whole = await image.toBuffer();
    const outcomes = await Promise.all([1, 2, 40].map(async (cut) => (await inspect(whole.subarray(0, -cut))).outcome));
    assert.deepEqual(outcomes, ["accepted", "accepted", "broken"]);
  }
});

test("rubbish is broken even after a correct signature", async () => {
  const starts = [
    "\xff\xd8\xff\xe0",
    "\x89PNG\r\n\x1a\n",
    "GIF89a",
    "RIFF\x10\0\0\0WEBPVP8 ",
    "\0\0\0\x14ftypavif\0\0\0\0avif",
    "II*\0\x08\0\0\0",
  ];
  for (const start of [...starts, "", "text", "<html>"]) {
    const { outcome } = await inspect(Buffer.concat([Buffer.from(start, "latin1"), Buffer.alloc(2000, 0x41)]));
    assert.equal(outcome, "broken", JSON.stringify(start));
  }
});

test("a small file that claims a huge image is refused from its header", async () => {
  const limits = { ...defaultImageLimits, pixelsMax: 1_000_000, avifPixelsMax: 500_000 };
  const plain = (side: number) => sharp({ create: { width: side, height: side, channels: 3, background: "#123456" } });
  const bombs = [
    await plain(1001).png().toBuffer(),
    await plain(1001).webp({ effort: 0 }).toBuffer(),
    await plain(708).avif({ effort: 0 }).toBuffer(),
  ];
  for (const bomb of bombs) {
    const inspection = await inspect(bomb, limits);
    assert.equal(inspection.outcome === "over-limit" && inspection.problem.code, "pixels");
  }
});

test("a recognised type that is not accepted is refused with advice", async () => {
  const inspection = await inspect(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"));
  assert.equal(inspection.outcome, "not-accepted");
});

test("an animation with only its last frame damaged is broken: every accepted image can be shown", async () => {
  const frames = await Promise.all(Array.from({ length: 6 }, () => noise(80, 60).png().toBuffer()));
  const whole = await sharp(frames, { join: { animated: true } })
    .webp({ lossless: true })
    .toBuffer();
  assert.equal((await inspect(whole)).outcome, "accepted");
  // After the first bytes of the last frame: the structure of the file is intact, and so are the frames before.
  const lastFrame = whole.lastIndexOf("VP8L");
  const damaged = Buffer.from(whole).fill(0xff, lastFrame + 16);
  assert.equal((await inspect(damaged)).outcome, "broken");
});

/** A TIFF of one strip; each tag is a list of numbers of 16 bits. */
function tiffWith(tags: Record<number, readonly number[]>): Buffer {
  const [side, samples] = [8, tags[277]?.[0] ?? 3];
  const pixels = Buffer.alloc(side * side * samples, 0x80);
  const bits = Array.from({ length: samples }, () => 8);
  const given = { 256: [side], 257: [side], 258: bits, 259: [1], 262: [2], 277: [samples], 278: [side], ...tags };
  const entries = Object.entries({ ...given, 273: [], 279: [] }).map(([tag, values]) => [Number(tag), values] as const);
  entries.sort(([a], [b]) => a - b);
  const after = 8 + 2 + entries.length * 12 + 4;
  const lists: Buffer[] = [];
  const outside = (values: readonly number[]) => {
    const at = after + lists.reduce((sum, { length }) => sum + length, 0);
    lists.push(Buffer.from(Uint16Array.from(values).buffer));
    return at;
  };
  const directory = entries.map(([tag, values]) => {
    const entry = Buffer.alloc(12);
    entry.writeUInt16LE(tag, 0);
    entry.writeUInt16LE(values.length === 0 ? 4 : 3, 2);
    entry.writeUInt32LE(Math.max(1, values.length), 4);
    if (values.length > 2) entry.writeUInt32LE(outside(values), 8);
    else values.forEach((value, index) => void entry.writeUInt16LE(value, 8 + 2 * index));
    return { tag, entry };
  });
  const pixelsAt = after + lists.reduce((sum, { length }) => sum + length, 0);
  directory.find(({ tag }) => tag === 273)?.entry.writeUInt32LE(pixelsAt, 8);
  directory.find(({ tag }) => tag === 279)?.entry.writeUInt32LE(pixels.length, 8);
  const head = Buffer.from([0x49, 0x49, 42, 0, 8, 0, 0, 0, entries.length, 0]);
  return Buffer.concat([head, ...directory.map(({ entry }) => entry), Buffer.alloc(4), ...lists, pixels]);
}

test("kinds of TIFF that would be shown blank or in false colours are refused with advice, all others are accepted", async () => {
  const refused: [Record<number, readonly number[]>, RegExp][] = [
    [{ 259: [6], 262: [6] }, /old-style JPEG/],
    [{ 262: [6] }, /YCbCr without JPEG/],
    [{ 262: [32_845] }, /colour model/],
    [{ 277: [4] }, /extra sample other than alpha/],
    [{ 277: [4], 338: [0] }, /extra sample other than alpha/],
    [{ 277: [5], 338: [1, 0] }, /more than one extra sample/],
    [{ 277: [6], 338: [1, 0, 0] }, /more than one extra sample/],
  ];
  for (const [tags, advice] of refused) {
    const inspection = await inspect(tiffWith(tags));
    assert.ok(inspection.outcome === "not-accepted", JSON.stringify([tags, inspection]));
    assert.match(inspection.advice, advice);
  }
  const kinds = [
    tiffWith({}),
    tiffWith({ 277: [4], 338: [2] }),
    tiffWith({ 277: [4], 262: [5] }),
    tiffWith({ 262: [1], 277: [1] }),
  ];
  const made = [
    noise(40, 30).tiff(),
    noise(40, 30).ensureAlpha(0.5).tiff(),
    noise(40, 30).tiff({ compression: "jpeg" }),
  ];
  const big = noise(40, 30).ensureAlpha(0.5).tiff({ bigtiff: true });
  for (const bytes of [...kinds, ...(await Promise.all([...made, big].map((image) => image.toBuffer())))]) {
    assert.equal((await inspect(bytes)).outcome, "accepted");
  }
});
