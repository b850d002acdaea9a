import assert from "node:assert/strict";
import { test } from "node:test";
import { hasFewColours } from "./few-colours.ts";

test("pixels have few colours up to the size of a palette", () => {
  const spread = (count: number) =>
    Buffer.from(Array.from({ length: count }, (_, at) => [at & 255, at >> 8, 9]).flat());
  assert.deepEqual(
    [1, 255, 256, 257].map((count) => hasFewColours(spread(count), 3)),
    [true, true, true, false],
  );
});

test("another opacity is another colour", () => {
  const faded = (count: number) =>
    Buffer.from(Array.from({ length: count }, (_, at) => [1, 2, at >> 8, at & 255]).flat());
  assert.deepEqual(
    [256, 257].map((count) => hasFewColours(faded(count), 4)),
    [true, false],
  );
});
