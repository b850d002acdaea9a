import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readFixture } from "@signalbox/testing";
import sharp from "sharp";
import { readGainMap } from "../child/gain-map.ts";
import { readColourCoding, unshownColours } from "../colour/colour-coding.ts";
import { ramps, uint32, ultraHdr, withChunk, withCicp, withNclx } from "./test-colours.ts";
import { openTestPool, type TestPool } from "./test-pool.ts";

let images: TestPool;
before(async () => {
  images = await openTestPool();
});
after(() => images.close());

const lookOf = async (bytes: Buffer) => {
  const inspection = await images.inspect(bytes);
  assert.ok(inspection.outcome === "accepted", JSON.stringify(inspection));
  return inspection;
};

/** Returns the middle pixel of a rendition. */
async function colourOf(bytes: Buffer): Promise<number[]> {
  const made = await images.render(bytes, { width: null });
  const { data } = await sharp(made.bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return [...data.subarray(0, 3)];
}

const flat = (background: string) => sharp({ create: { width: 8, height: 8, channels: 3, background } });

test("the record of an image tells its colour space", async () => {
  const png = await ramps(8).png().toBuffer();
  const avif = await readFixture("small.avif");
  const spaces = [
    [png, "srgb", null],
    [withCicp(png, 12, 13), "display_p3", null],
    [withCicp(png, 9, 16), "rec2020", "pq"],
    [withNclx(avif, 9, 18), "rec2020", "hlg"],
    [withNclx(avif, 5, 5), "other", null],
    [await ramps(8).withIccProfile("p3").png().toBuffer(), "display_p3", null],
    [await ramps(8).withIccProfile("srgb").jpeg().toBuffer(), "srgb", null],
    [await ramps(8).toColourspace("cmyk").jpeg().toBuffer(), "cmyk", null],
  ] as const;
  for (const [bytes, colorSpace, hdr] of spaces) {
    const look = await lookOf(bytes);
    assert.deepEqual([look.colorSpace, look.hdr], [colorSpace, hdr]);
  }
});

test("a coded image is converted alike for pixels, placeholder, dominant colour", async () => {
  const green = withCicp(await flat("#40c040").png().toBuffer(), 12, 13);
  const [red = 0, full = 0] = await colourOf(green);
  assert.ok(red < 10 && full > 190, `${red} ${full}`);
  const { dominantColor } = await lookOf(green);
  assert.equal(dominantColor, `#${Buffer.from(await colourOf(green)).toString("hex")}`);
});

test("transparency survives the conversion of colours", async () => {
  const half = sharp({ create: { width: 8, height: 8, channels: 4, background: "#40c04080" } });
  for (const deep of [false, true]) {
    const png = await (deep ? half.clone().toColourspace("rgb16") : half.clone()).png().toBuffer();
    const { bytes } = await images.render(withCicp(png, 9, 16), { width: null });
    const [, , , alpha] = await sharp(bytes).raw().toBuffer();
    assert.equal(alpha, 128);
  }
});

test("grey of limited range in an AVIF reaches black", async () => {
  const grey = await readFixture("grey-limited.avif");
  const { bytes } = await images.render(grey, { width: null });
  const { channels } = await sharp(bytes).stats();
  const { min = 255, max = 0 } = channels[0] ?? {};
  assert.ok(min < 4 && max > 251, `${min} ${max}`);
});

test("an exponent of its own changes the pixels of a PNG", async () => {
  const png = await flat("#808080").png().toBuffer();
  assert.deepEqual(await colourOf(withChunk(png, "gAMA", uint32(100_000))), [188, 188, 188]);
  assert.deepEqual(await colourOf(withChunk(png, "gAMA", uint32(45_455))), [128, 128, 128]);
});

test("a gain map is scaled, cropped, turned like its picture in a JPEG", async () => {
  const original = await ultraHdr(6);
  assert.equal((await lookOf(original)).hdr, "gain_map");
  const [whole, crop] = [
    await images.render(original, { format: "jpeg", width: 80 }),
    await images.render(original, {
      format: "jpeg",
      width: 40,
      height: 40,
      fit: "cover",
      focalPoint: { x: 0.5, y: 0 },
    }),
  ];
  // Read by the decoder's own reader of such files, which our children do not load.
  for (const [made, size] of [
    [whole, [20, 30]],
    [crop, [10, 10]],
  ] as const) {
    const { gainMap, width, height, sizeBytes } = {
      ...(await sharp(made.bytes).metadata()),
      sizeBytes: made.sizeBytes,
    };
    assert.ok(gainMap);
    assert.deepEqual([width, height, sizeBytes], [made.width, made.height, made.bytes.length]);
    const map = await sharp(gainMap.image).metadata();
    assert.deepEqual([map.width, map.height], size);
    assert.match(`${map.xmp}`, /hdrgm:GainMapMax="2"/);
  }
  assert.ok(!whole.bytes.includes("SecretCamera"));
  const damaged = Buffer.from(original).fill(0x41, original.length - 200);
  assert.equal((await images.render(damaged, { format: "jpeg" })).width, 64);
  for (let at = 2; at < 700; at += 7) {
    const changed = Buffer.from(original).fill(0xff, at, at + 3);
    await assert.doesNotReject(readGainMap(await images.stored(changed)));
  }
});

test("colours that cannot be converted are refused with the reason", async () => {
  const png = await ramps(8).png().toBuffer();
  for (const [primaries, transfer] of [
    [3, 13],
    [9, 9],
  ] as const) {
    const inspection = await images.inspect(withCicp(png, primaries, transfer));
    assert.ok(inspection.outcome === "not-accepted");
    assert.match(inspection.advice, /CICP/);
  }
});

test("an animated PNG is refused instead of losing its frames", async () => {
  const png = await flat("#808080").png().toBuffer();
  const inspection = await images.inspect(withChunk(png, "acTL", uint32(2, 0)));
  assert.ok(inspection.outcome === "not-accepted");
  assert.match(inspection.advice, /animated PNG/);
  assert.equal((await images.inspect(withChunk(png, "acTL", uint32(1, 0)))).outcome, "accepted");
});

test("a damaged head of a file with coded colours is no fault of ours", async () => {
  const files = {
    avif: withNclx(await readFixture("small.avif"), 12, 13),
    png: withCicp(await ramps(8).png().toBuffer(), 9, 16),
  };
  for (const format of ["avif", "png"] as const) {
    for (let at = 0; at < 400; at++) {
      const changed = Buffer.from(files[format]);
      changed[at] = 0xff;
      const path = await images.stored(at % 2 ? changed : changed.subarray(0, at));
      await assert.doesNotReject(readColourCoding(path, format));
      await assert.doesNotReject(unshownColours(path, format));
    }
  }
});
