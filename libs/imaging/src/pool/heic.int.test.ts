import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { readFixture } from "@signalbox/testing";
import sharp, { type Sharp } from "sharp";
import { openTestPool, type TestPool } from "./test-pool.ts";

let images: TestPool;
before(async () => {
  images = await openTestPool();
});
after(() => images.close());

/** Pixels of a small picture, without its left third, which is half transparent in `deep.heic`. */
const pixelsOf = (image: Sharp) =>
  image
    .removeAlpha()
    .resize(60, 40, { fit: "fill" })
    .extract({ left: 20, top: 0, width: 40, height: 40 })
    .raw()
    .toBuffer();
const differenceOf = (one: Buffer, other: Buffer) =>
  one.reduce((sum, value, at) => sum + Math.abs(value - (other[at] ?? 0)), 0) / one.length;
const shown = async (name: "phone.heic" | "deep.heic") =>
  (await images.render(await readFixture(name), { width: null })).bytes;

test("a HEIC is turned once, though its Exif asks for it again", async () => {
  const inspection = await images.inspect(await readFixture("phone.heic"));
  assert.ok(inspection.outcome === "accepted");
  assert.deepEqual([inspection.facts.width, inspection.facts.height], [106, 160]);
  const upright = await pixelsOf(sharp(await readFixture("small.webp")));
  assert.ok(differenceOf(await pixelsOf(sharp(await shown("phone.heic")).rotate(270)), upright) < 16);
});

test("colours told by a profile look like those told by code points", async () => {
  const [profile, points] = [sharp(await shown("phone.heic")).rotate(270), sharp(await shown("deep.heic"))];
  const [one, other] = [await pixelsOf(profile), await pixelsOf(points)];
  assert.ok(differenceOf(one, other) < 5, `${differenceOf(one, other)}`);
  const unconverted = await pixelsOf(sharp(await readFixture("small.webp")));
  assert.ok(differenceOf(other, unconverted) > 2, "the colours were converted");
});

test("the colours of a HEIC are known from its profile, or from its code points", async () => {
  for (const name of ["phone.heic", "deep.heic"] as const) {
    const inspection = await images.inspect(await readFixture(name));
    assert.ok(inspection.outcome === "accepted");
    assert.deepEqual([inspection.colorSpace, inspection.hdr], ["display_p3", null], name);
  }
});

test("the colours of a HEIC in Display P3 are kept on request", async () => {
  const source = await readFixture("phone.heic");
  for (const format of ["jpeg", "png", "webp", "avif"] as const) {
    const made = await images.render(source, { width: null, format, p3: true });
    assert.ok((await sharp(made.bytes).metadata()).icc, format);
    const [kept, converted] = [await pixelsOf(sharp(made.bytes)), await pixelsOf(sharp(await shown("phone.heic")))];
    assert.ok(differenceOf(kept, converted) < 6, `${format} ${differenceOf(kept, converted)}`);
  }
});

test("the transparency of a HEIC survives its ten bits", async () => {
  const { data } = await sharp(await shown("deep.heic"))
    .raw()
    .toBuffer({ resolveWithObject: true });
  const alphaAt = (x: number) => data[4 * (120 * 40 + x) + 3] as number;
  assert.ok(Math.abs(alphaAt(10) - 128) < 4);
  assert.equal(alphaAt(100), 255);
});

test("a HEIC that ends early is broken", async () => {
  const whole = await readFixture("phone.heic");
  for (const share of [0.3, 0.6, 0.95]) {
    const { outcome } = await images.inspect(whole.subarray(0, Math.floor(whole.length * share)));
    assert.equal(outcome, "broken", `${share}`);
  }
});

test("no pixels of a HEIC stay behind", { timeout: 30_000 }, async () => {
  await shown("phone.heic");
  const decoded = async () =>
    (await readdir(images.folder, { recursive: true })).filter((path) => path.endsWith(join("decoded.tif")));
  while ((await decoded()).length > 0) await new Promise((resolve) => setTimeout(resolve, 200));
  assert.deepEqual(await decoded(), []);
});
