import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultImageLimits, type ImageFacts, limitProblem } from "./image-limits.ts";

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

test("each limit allows its own value and refuses one more", () => {
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

test("problems of size and of shape are distinguished", () => {
  assert.equal(limitProblem(facts({ width: 40_000 }), defaultImageLimits)?.kind, "too-large");
  assert.equal(limitProblem(facts({ width: 3000, height: 1 }), defaultImageLimits)?.kind, "unsuitable");
});
