import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openBrowser, readFixture } from "@signalbox/testing";
import sharp from "sharp";
import { meanDifference, ramps, uint32, withChunk, withCicp, withNclx } from "./test-colours.ts";
import { openTestPool, type TestPool } from "./test-pool.ts";

/** Largest mean difference between our rendition and the browser's picture of the same file, in steps of 255. */
const differenceMax = 4;

let images: TestPool;
let browser: Awaited<ReturnType<typeof openBrowser>>;
before(async () => {
  [images, browser] = await Promise.all([openTestPool(), openBrowser()]);
});
after(() => Promise.all([images.close(), browser.close()]));

/** Primaries and transfers of H.273 that cameras, phones and screens write. */
const codes = [
  ...[
    [12, 13],
    [9, 13],
    [9, 1],
    [9, 14],
    [9, 16],
    [9, 18],
    [12, 16],
    [12, 18],
    [1, 16],
    [1, 8],
    [1, 4],
  ],
  ...[
    [7, 7],
    [6, 6],
    [5, 5],
    [10, 8],
    [11, 17],
    [2, 2],
  ],
] as const;

test("coded colours look like in a browser", async () => {
  const [png, deep, avif] = await Promise.all([
    ramps(8).png().toBuffer(),
    ramps(16).png().toBuffer(),
    readFixture("small.avif"),
  ]);
  const grey = await readFixture("grey-limited.avif");
  const files = new Map<string, Buffer>([["grey-limited.avif", grey]]);
  for (const [primaries = 2, transfer = 2] of codes) {
    const name = `${primaries}-${transfer}`;
    files.set(`${name}.png`, withCicp(png, primaries, transfer));
    files.set(`${name}-deep.png`, withCicp(deep, primaries, transfer));
    // Chromium does not show AVIFs of these.
    if (primaries < 10 || primaries === 12) files.set(`${name}.avif`, withNclx(avif, primaries, transfer));
  }
  const bright = withCicp(deep, 9, 16);
  for (const nits of [400, 4_000]) files.set(`peak-${nits}.png`, withChunk(bright, "cLLI", uint32(nits * 10_000, 0)));
  const corners = uint32(31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000);
  files.set("gamma.png", withChunk(withChunk(png, "gAMA", uint32(55_555)), "cHRM", corners));
  files.set("gamma-srgb.png", withChunk(withChunk(png, "gAMA", uint32(45_455)), "cHRM", corners));
  files.set("gamma-alone.png", withChunk(png, "gAMA", uint32(100_000)));
  const page = await browser.newPage();
  const differences: [string, number][] = [];
  for (const [name, bytes] of files) {
    const type = name.endsWith("png") ? "image/png" : "image/avif";
    const address = `data:${type};base64,${bytes.toString("base64")}`;
    const shown = await page.evaluate<string>(picture(address));
    const made = await images.render(bytes, { width: null });
    const ours = await sharp(made.bytes).toColourspace("srgb").ensureAlpha().raw().toBuffer();
    differences.push([name, meanDifference(ours, Buffer.from(shown, "base64"))]);
  }
  assert.deepEqual(
    differences.filter(([, difference]) => !(difference <= differenceMax)),
    [],
  );
});

/** A script for the page, without types of browsers here: answers with the pixels of an image in base 64. */
const picture = (address: string): string => `(async () => {
  const image = new Image();
  image.src = ${JSON.stringify(address)};
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  return btoa(Array.from(data, (sample) => String.fromCharCode(sample)).join(""));
})()`;
