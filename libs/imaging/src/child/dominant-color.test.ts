import assert from "node:assert/strict";
import { test } from "node:test";
import { dominantColor } from "./dominant-color.ts";

const pixels = (...runs: readonly (readonly [count: number, rgba: readonly number[]])[]) =>
  Uint8Array.from(runs.flatMap(([count, rgba]) => Array.from({ length: count }, () => rgba).flat()));

test("the most frequent colour wins, similar ones count together, and transparent pixels do not count", () => {
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
