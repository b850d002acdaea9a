import assert from "node:assert/strict";
import { test } from "node:test";
import { renditionsToEvict } from "./evict-renditions.ts";
import { type Rendition, renditionKey } from "./rendition.ts";

const box = { height: null, fit: "inside", enlarge: false, focalPoint: null, format: "jpeg", quality: 80 } as const;
const keyOf = (width: number) => renditionKey("a".repeat(64), { ...box, width } satisfies Rendition);
const older = (key: string) => key.replace(/-\d+-[\d.]+\.jpeg$/, "-1-0.1.0.jpeg");
const one = (key: string, seen: number, sizeBytes = 10) => ({ key, sizeBytes, seenAt: new Date(seen) });
const roomy = { countMax: 100, bytesMax: 10_000 };

test("the least recently used go first until number or bytes fit", () => {
  const stored = [1, 2, 3, 4].map((width) => one(keyOf(width), width));
  assert.deepEqual(renditionsToEvict(stored, roomy), []);
  assert.deepEqual(renditionsToEvict(stored, { ...roomy, countMax: 2 }), [keyOf(2), keyOf(1)]);
  assert.deepEqual(renditionsToEvict(stored, { ...roomy, bytesMax: 35 }), [keyOf(1)]);
});

test("one that is too large by itself evicts no other", () => {
  const stored = [one(keyOf(1), 1), one(keyOf(2), 2, 1_000), one(keyOf(3), 3)];
  assert.deepEqual(renditionsToEvict(stored, { ...roomy, bytesMax: 100 }), [keyOf(2)]);
});

test("an older encoder's rendition is removed once its replacement exists, and kept until then", () => {
  const stored = [one(older(keyOf(1)), 9), one(keyOf(1), 1), one(older(keyOf(2)), 9)];
  assert.deepEqual(renditionsToEvict(stored, roomy), [older(keyOf(1))]);
});
