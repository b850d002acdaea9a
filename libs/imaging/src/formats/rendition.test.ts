import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fits, planGeometry } from "./geometry.ts";
import { outputFormats } from "./image-formats.ts";
import { type Overlay, overlayDefaults } from "./overlay.ts";
import { canonicalRendition, encoderVersion, type Rendition, renditionKey, renditionTag } from "./rendition.ts";

const sha = "ab".repeat(32);
const source = { width: 3000, height: 2000 };
const rendition = (change: Partial<Rendition>): Rendition => ({
  width: 320,
  height: null,
  fit: "inside",
  enlarge: false,
  focalPoint: null,
  format: "webp",
  quality: null,
  ...change,
});
const keyOf = (change: Partial<Rendition>) => renditionKey(sha, canonicalRendition(rendition(change), source));

test("a key changes with the original, the parameters or the encoder", () => {
  assert.equal(keyOf({}), `renditions/${sha}/w320-inside-q80-${encoderVersion}.webp`);
  assert.equal(
    keyOf({ width: 200, height: 200, fit: "cover", focalPoint: { x: 0.25, y: 1 }, format: "jpeg", quality: 60 }),
    `renditions/${sha}/w200-h200-cover-q60-x0.2500-y1.0000-${encoderVersion}.jpeg`,
  );
  assert.equal(keyOf({ width: null }), `renditions/${sha}/full-q80-${encoderVersion}.webp`);
});

test("a key changes with the overlay's bytes or its place", () => {
  const facts = { format: "png", mimeType: "image/png", width: 9, height: 9, frames: 1, hasAlpha: false } as const;
  const overlay = { ...overlayDefaults, sha256: sha, facts: { ...facts, isProgressive: false } };
  const overlaid = (change: Partial<Overlay>) => keyOf({ overlay: { ...overlay, ...change } });
  const key = overlaid({});
  assert.match(key, /-overlay(ab){16}_southeast_25_100_0-/);
  const others = [
    { sha256: "cd".repeat(32) },
    { position: "north" },
    { width: 26 },
    { opacity: 99 },
    { margin: 1 },
  ] as const;
  assert.equal(new Set([key, ...others.map(overlaid)]).size, 1 + others.length);
  assert.equal(overlaid({ position: "center", margin: 9 }), overlaid({ position: "center" }));
});

test("Display P3 is kept where no other colours come beside it", () => {
  assert.match(keyOf({ p3: true }), /-p3-/);
  for (const beside of [{ blur: 2 }, { background: "ff0000" }, { format: "gif" }] as const) {
    const key = keyOf({ p3: true, ...beside });
    assert.equal(key, keyOf(beside));
  }
  assert.equal(
    keyOf({ p3: true, width: 90, height: 90, fit: "contain" }),
    keyOf({ width: 90, height: 90, fit: "contain" }),
  );
});

test("a trimmed rendition keeps what its box may do, whatever is left of it", () => {
  for (const box of [
    { width: 3000, enlarge: true },
    { width: 300, enlarge: true },
    { width: 300, height: 200, fit: "contain", background: "ff0000" },
    { width: 300, height: 200, fit: "cover", attention: true },
  ] as const) {
    const { enlarge, background, attention, width } = canonicalRendition(rendition({ trim: true, ...box }), source);
    const wanted = { enlarge: false, background: undefined, attention: undefined, ...box };
    assert.deepEqual({ ...wanted, enlarge, background, attention, width }, wanted);
  }
});

test("equivalent parameters have one key", () => {
  const same: [Partial<Rendition>, Partial<Rendition>][] = [
    [{}, { quality: 80 }],
    [{}, { fit: "cover" }],
    [{}, { focalPoint: { x: 0, y: 0 } }],
    [{}, { enlarge: true }],
    [{ width: null }, { width: 3000 }],
    [{ width: null }, { width: 4000 }],
    [{ format: "png" }, { format: "png", quality: 5 }],
    [
      { width: 300, height: 300 },
      { width: 300, height: 300, focalPoint: { x: 0.1, y: 0.1 } },
    ],
  ];
  for (const [one, other] of same) assert.equal(keyOf(one), keyOf(other));
  assert.equal(
    keyOf({ attention: true, background: "aabbcc" }),
    keyOf({}),
    "nothing is cut and nothing is transparent",
  );
  assert.equal(keyOf({ format: "gif", copyright: true }), keyOf({ format: "gif" }), "a GIF has no place for it");
  const [left, top] = [0, 0];
  assert.equal(keyOf({ crop: { left, top, width: 9000, height: 9000 } }), keyOf({}), "nothing is cut");
  const beyond = { left: 2000, top, width: 9000, height: 100 };
  assert.equal(keyOf({ crop: beyond }), keyOf({ crop: { ...beyond, width: 1000 } }), "the crop ends at the edge");
  const square = { width: 320, height: 320, fit: "cover", attention: true } as const;
  assert.equal(keyOf({ ...square, focalPoint: { x: 0, y: 0 } }), keyOf(square));
  const contained = { format: "jpeg", width: 320, height: 320, fit: "contain" } as const;
  assert.equal(keyOf({ ...contained, background: "ffffff" }), keyOf(contained));
});

test("different bytes have different keys", () => {
  const all: Partial<Rendition>[] = [
    {},
    { width: 321 },
    { width: null, height: 320 },
    { width: null },
    { quality: 79 },
    { format: "jpeg" },
    { format: "png" },
    { width: 320, height: 320 },
    { width: 320, height: 320, fit: "cover" },
    { width: 320, height: 320, fit: "contain" },
    { width: 320, height: 320, fit: "fill" },
    { width: 320, height: 320, fit: "outside" },
    { width: 320, height: 320, fit: "cover", focalPoint: { x: 0.1, y: 0.5 } },
    { width: 4000, enlarge: true },
    { width: 4000, height: 4000, fit: "cover" },
    { width: 4000, height: 4000, fit: "contain" },
    { copyright: true },
    { width: 320, height: 320, fit: "cover", attention: true },
    { width: 320, height: 320, fit: "contain", background: "000000" },
    { width: 320, height: 320, fit: "contain", background: "ffffff" },
    { crop: { left: 0, top: 0, width: 300, height: 200 } },
    { crop: { left: 1, top: 0, width: 300, height: 200 } },
    { rotate: 90 },
    { rotate: 180 },
    { blur: 5 },
    { round: 5 },
  ];
  assert.equal(new Set(all.map(keyOf)).size, all.length);
  assert.equal(new Set(all.map((change) => renditionTag(keyOf(change)))).size, all.length);
});

test("a validator is a stable strong entity tag", () => {
  assert.match(renditionTag("a"), /^"[\w-]{27}"$/);
  assert.equal(renditionTag("a"), renditionTag("a"));
});

const side = fc.integer({ min: 1, max: 4096 });
const anyRendition = fc.record({
  width: fc.option(side),
  height: fc.option(side),
  fit: fc.constantFrom(...fits),
  enlarge: fc.boolean(),
  focalPoint: fc.option(fc.record({ x: fc.double({ min: 0, max: 1, noNaN: true }), y: fc.constantFrom(0, 0.5, 1) })),
  format: fc.constantFrom(...outputFormats),
  quality: fc.option(fc.integer({ min: 1, max: 100 })),
});
const length = fc.integer({ min: 1, max: 9000 });
const anySource = fc.record({ width: length, height: length }, { noNullPrototype: true });

test("a request keeps its pixels in canonical form, which is its own canonical form", () => {
  fc.assert(
    fc.property(anyRendition, anySource, (asked, of) => {
      const canonical = canonicalRendition(asked, of);
      assert.deepEqual(planGeometry(of, canonical), planGeometry(of, asked));
      assert.deepEqual(canonicalRendition(canonical, of), canonical);
      assert.equal(canonical.format, asked.format);
    }),
  );
});
