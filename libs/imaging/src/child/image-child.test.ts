import assert from "node:assert/strict";
import { test } from "node:test";
import { dominantColor } from "./dominant-color.ts";
import { readRights } from "./exif-rights.ts";

const pixels = (...runs: readonly (readonly [count: number, rgba: readonly number[]])[]) =>
  Uint8Array.from(runs.flatMap(([count, rgba]) => Array.from({ length: count }, () => rgba).flat()));

test("the most frequent colour wins: similar ones together, transparent pixels aside", () => {
  const [sky, deeper, sand] = [
    [80, 140, 200, 255],
    [84, 142, 204, 255],
    [220, 200, 160, 255],
  ];
  assert.equal(dominantColor(pixels([3, sky], [3, deeper], [5, sand])), "#528dca");
  assert.equal(dominantColor(pixels([9, [255, 0, 0, 0]], [1, [0, 0, 255, 255]])), "#0000ff");
  assert.equal(dominantColor(pixels([4, [1, 2, 3, 0]])), "#ffffff");
  assert.equal(dominantColor(new Uint8Array()), "#ffffff");
});

/** Builds an Exif directory of texts, each stored behind it. */
function exifOf(texts: readonly (readonly [tag: number, text: string])[], order: "II" | "MM" = "II"): Buffer {
  const bytes = Buffer.alloc(2_000);
  const isLittle = order === "II";
  const uint16 = (value: number, at: number) =>
    isLittle ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at);
  const uint32 = (value: number, at: number) =>
    isLittle ? bytes.writeUInt32LE(value, at) : bytes.writeUInt32BE(value, at);
  bytes.write(`Exif\0\0${order}`, 0, "latin1");
  uint16(42, 8);
  uint32(8, 10);
  uint16(texts.length, 14);
  let free = 500;
  for (const [index, [tag, text]] of texts.entries()) {
    const at = 16 + 12 * index;
    const size = Buffer.byteLength(text);
    uint16(tag, at);
    uint16(2, at + 2);
    uint32(size, at + 4);
    if (size > 4) uint32(free, at + 8);
    bytes.write(text, size > 4 ? 6 + free : at + 8);
    free += size;
  }
  return bytes;
}

test("only author and copyright are read, in either byte order, short or long", () => {
  for (const order of ["II", "MM"] as const) {
    const exif = exifOf(
      [
        [0x010f, "Camera"],
        [0x013b, "Ann"],
        [0x8298, "© Ann Arbor\0Ed\0"],
      ],
      order,
    );
    assert.deepEqual(readRights(exif), { Artist: "Ann", Copyright: "© Ann Arbor; Ed" });
  }
  assert.deepEqual(readRights(undefined), {});
});

test("for any bytes the rights are short texts or none", () => {
  const whole = exifOf([
    [0x013b, "Ann Arbor"],
    [0x8298, "x".repeat(500)],
  ]);
  for (let cut = 0; cut < 60; cut++) readRights(whole.subarray(0, cut));
  for (let at = 0; at < 60; at++) {
    for (const value of [0, 1, 127, 255]) {
      const changed = Buffer.from(whole);
      changed[at] = value;
      for (const text of Object.values(readRights(changed))) assert.ok(text.length <= 1_000);
    }
  }
});
