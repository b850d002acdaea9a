import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { chooseRendition, plainForm, type RequestedForm } from "./choose-rendition.ts";
import { fits, planGeometry } from "./geometry.ts";

const image = {
  facts: {
    format: "jpeg",
    mimeType: "image/jpeg",
    width: 1000,
    height: 500,
    frames: 1,
    hasAlpha: false,
    isProgressive: false,
  },
  focalPoint: null,
  colorSpace: "srgb",
} as const;

function choose(given: Partial<RequestedForm>, accept: string, options: { avif?: boolean; max?: number } = {}) {
  const { avif: isAvifOffered = true, max = 20_000 } = options;
  const choice = chooseRendition(
    image,
    { form: { ...plainForm, ...given }, overlay: null, accept, isAvifOffered },
    max,
  );
  if (!("rendition" in choice)) return choice.outcome;
  const later = choice.outcome === "chosen" && choice.later ? ` before ${choice.later.format}` : "";
  return `${choice.outcome} ${choice.rendition.format}${later}`;
}

test("an AVIF too large to wait for is made later: another format now, or none when only AVIF is acceptable", () => {
  assert.equal(choose({ width: 640 }, "image/avif,image/webp,*/*;q=0.5"), "chosen webp before avif");
  assert.equal(choose({ width: 640 }, "image/avif"), "only-later avif");
  assert.equal(choose({ width: 100 }, "image/avif"), "chosen avif");
});

test("a stored AVIF is shown at any size", () => {
  assert.equal(choose({ width: 640 }, "image/avif", { max: Number.POSITIVE_INFINITY }), "chosen avif");
});

test("a disabled AVIF is never promised", () => {
  assert.equal(choose({ width: 640 }, "image/avif,image/webp", { avif: false }), "chosen webp");
  assert.equal(choose({ width: 640 }, "image/avif", { avif: false }), "not-acceptable");
});

test("a dense screen gets the size of its pixels, up to the longest side", () => {
  const tenths = fc.integer({ min: 10, max: 40 }).map((factor) => factor / 10);
  const side = fc.integer({ min: 1, max: 4096 });
  const optional = {
    width: fc.option(side, { nil: undefined }),
    height: fc.option(side, { nil: undefined }),
    fit: fc.constantFrom(...fits),
  };
  const chosen = (given: Partial<RequestedForm>) =>
    chooseRendition(
      image,
      { form: { ...plainForm, ...given }, overlay: null, accept: "image/webp", isAvifOffered: true },
      0,
    );
  fc.assert(
    fc.property(fc.record(optional), fc.boolean(), tenths, ({ fit, ...sides }, enlarge, dpr) => {
      const dense = chosen({ ...sides, fit, enlarge, dpr });
      const times = (length: number | undefined) => length && Math.round(length * dpr);
      const [width, height] = [times(sides.width), times(sides.height)];
      if (Math.max(width ?? 0, height ?? 0) > 4096) return assert.equal(dense.outcome, "too-large");
      assert.deepEqual(dense, chosen({ width, height, fit, enlarge }));
      if (dense.outcome !== "chosen") return;
      const { output } = planGeometry(image.facts, dense.rendition);
      assert.ok(Math.max(output.width, output.height) <= 4096);
    }),
  );
});
