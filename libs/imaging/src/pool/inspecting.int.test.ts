import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sharp from "sharp";
import { thumbHashToApproximateAspectRatio } from "thumbhash";
import { defaultImageLimits } from "../image-limits.ts";
import { noise, openTestPool, type TestPool } from "./test-pool.ts";

let images: TestPool;
before(async () => {
  images = await openTestPool();
});
after(() => images.close());

const inspect = (bytes: Buffer, limits = defaultImageLimits) => images.inspect(bytes, limits);

test("an image is accepted with its facts and its placeholder", async () => {
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
  const joined = (format: "gif" | "webp" | "tiff") =>
    sharp(pages, { join: { animated: true } })
      .toFormat(format)
      .toBuffer();
  for (const [format, frames] of [
    ["gif", 2],
    ["webp", 2],
    ["tiff", 1],
  ] as const) {
    const inspection = await inspect(await joined(format));
    assert.ok(inspection.outcome === "accepted", format);
    assert.deepEqual(
      [inspection.facts.frames, inspection.facts.width, inspection.facts.height],
      [frames, 20, 10],
      format,
    );
  }
});

test("a file that breaks off anywhere is broken, in every format", async () => {
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

test("rubbish behind a right signature, and no image at all, is broken", async () => {
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

test("a recognised type that is not accepted says what to do", async () => {
  const inspection = await inspect(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"));
  assert.equal(inspection.outcome, "not-accepted");
});
