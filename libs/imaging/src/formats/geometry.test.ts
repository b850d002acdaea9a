import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Box, type Fit, fits, planGeometry } from "./geometry.ts";
import { defaultImageLimits, type ImageFacts, limitProblem } from "./image-limits.ts";

const box = (width: number | null, height: number | null, fit: Fit = "inside", rest: Partial<Box> = {}): Box => ({
  width,
  height,
  fit,
  enlarge: false,
  focalPoint: null,
  ...rest,
});
const source = { width: 3000, height: 2000 };
const sizeOf = (wanted: Box, from = source) => Object.values(planGeometry(from, wanted).output);

test("each fit has its own size", () => {
  assert.deepEqual(sizeOf(box(null, null)), [3000, 2000]);
  assert.deepEqual(sizeOf(box(300, null)), [300, 200]);
  assert.deepEqual(sizeOf(box(null, 100, "cover")), [150, 100]);
  assert.deepEqual(sizeOf(box(300, 300, "inside")), [300, 200]);
  assert.deepEqual(sizeOf(box(300, 300, "outside")), [450, 300]);
  assert.deepEqual(sizeOf(box(300, 300, "cover")), [300, 300]);
  assert.deepEqual(sizeOf(box(300, 300, "contain")), [300, 300]);
  assert.deepEqual(sizeOf(box(300, 300, "fill")), [300, 300]);
});

test("nothing is enlarged unless requested; a cover keeps its shape instead", () => {
  const small = { width: 100, height: 50 };
  assert.deepEqual(sizeOf(box(400, 400, "inside"), small), [100, 50]);
  assert.deepEqual(sizeOf(box(400, null), small), [100, 50]);
  assert.deepEqual(sizeOf(box(400, 400, "cover"), small), [50, 50]);
  assert.deepEqual(sizeOf(box(400, 25, "fill"), small), [100, 25]);
  assert.deepEqual(sizeOf(box(400, 400, "inside", { enlarge: true }), small), [400, 200]);
  assert.deepEqual(sizeOf(box(400, 400, "cover", { enlarge: true }), small), [400, 400]);
  assert.deepEqual(planGeometry(small, box(400, 400, "contain")).scaled, small);
});

test("a cover keeps the focal point visible, up to the edges", () => {
  const cropAt = (x: number, y: number) => planGeometry(source, box(200, 200, "cover", { focalPoint: { x, y } })).crop;
  assert.deepEqual(cropAt(0, 0), { width: 200, height: 200, left: 0, top: 0 });
  assert.deepEqual(cropAt(1, 1), { width: 200, height: 200, left: 100, top: 0 });
  assert.deepEqual(cropAt(0.4, 0.5), { width: 200, height: 200, left: 20, top: 0 });
  assert.deepEqual(planGeometry(source, box(200, 200, "cover")).crop?.left, 50);
});

test("the pieces of any request fit together within the image", () => {
  const side = fc.integer({ min: 1, max: 5000 });
  const wantedSide = fc.option(fc.integer({ min: 1, max: 4096 }));
  const fraction = fc.double({ min: 0, max: 1, noNaN: true });
  const focalPoint = fc.option(fc.record({ x: fraction, y: fraction }));
  const boxes = fc.record({
    width: wantedSide,
    height: wantedSide,
    fit: fc.constantFrom(...fits),
    enlarge: fc.boolean(),
    focalPoint,
  });
  fc.assert(
    fc.property(fc.record({ width: side, height: side }), boxes, (from, wanted) => {
      const { scaled, crop, canvas, output } = planGeometry(from, wanted);
      assert.ok(scaled.width >= 1 && scaled.height >= 1 && output.width >= 1 && output.height >= 1);
      if (!wanted.enlarge) assert.ok(scaled.width <= from.width && scaled.height <= from.height);
      if (crop) {
        assert.deepEqual({ width: crop.width, height: crop.height }, output);
        assert.ok(crop.left >= 0 && crop.left + crop.width <= scaled.width);
        assert.ok(crop.top >= 0 && crop.top + crop.height <= scaled.height);
      } else if (canvas) {
        assert.ok(canvas.left >= 0 && canvas.left + scaled.width <= output.width);
        assert.ok(canvas.top >= 0 && canvas.top + scaled.height <= output.height);
      } else assert.deepEqual(scaled, output);
      if (wanted.width !== null && wanted.height !== null && wanted.fit !== "outside") {
        assert.ok(output.width <= wanted.width && output.height <= wanted.height);
      }
    }),
  );
});

const facts = (change: Partial<ImageFacts>): ImageFacts => ({
  format: "jpeg",
  mimeType: "image/jpeg",
  width: 3000,
  height: 2000,
  frames: 1,
  hasAlpha: false,
  isProgressive: false,
  ...change,
});
const codeOf = (change: Partial<ImageFacts>) => limitProblem(facts(change), defaultImageLimits)?.code ?? null;

test("each limit allows its own value but not one more", () => {
  assert.equal(codeOf({ width: 32_768, height: 3000 }), null);
  assert.equal(codeOf({ width: 32_769, height: 3000 }), "side");
  assert.equal(codeOf({ width: 10_000, height: 10_000 }), null);
  assert.equal(codeOf({ width: 10_001, height: 10_000 }), "pixels");
  assert.equal(codeOf({ format: "avif", width: 8000, height: 5000 }), null);
  assert.equal(codeOf({ format: "avif", width: 8000, height: 5001 }), "pixels");
  assert.equal(codeOf({ width: 2000, height: 10 }), null);
  assert.equal(codeOf({ width: 10, height: 2001 }), "aspect_ratio");
  assert.equal(codeOf({ format: "gif", frames: 300, width: 800, height: 800 }), null);
  assert.equal(codeOf({ format: "gif", frames: 301, width: 80, height: 80 }), "frames");
  assert.equal(codeOf({ format: "gif", frames: 200, width: 1000, height: 1000 }), null);
  assert.equal(codeOf({ format: "gif", frames: 201, width: 1000, height: 1000 }), "frame_pixels");
});

test("a limit that depends on the format names it", () => {
  const problem = limitProblem(facts({ format: "avif", width: 8000, height: 5001 }), defaultImageLimits);
  assert.equal(problem?.message, "AVIF images may have at most 40000000 pixels, this one has 40008000.");
});

test("problems of size are distinguished from those of shape", () => {
  assert.equal(limitProblem(facts({ width: 40_000 }), defaultImageLimits)?.kind, "too-large");
  assert.equal(limitProblem(facts({ width: 3000, height: 1 }), defaultImageLimits)?.kind, "unsuitable");
});
