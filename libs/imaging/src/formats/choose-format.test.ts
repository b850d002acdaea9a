import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseAccept } from "./accept.ts";
import { chooseFormat, type FormatQuestion } from "./choose-format.ts";
import { type InputFormat, inputFormats, outputFormats, outputTraits } from "./image-formats.ts";

const ask = (accept: string | undefined, from: InputFormat = "jpeg", rest: Partial<FormatQuestion> = {}) => {
  const source = { format: from, frames: 1 };
  const choice = chooseFormat({
    accept,
    requested: "auto",
    source,
    offered: outputFormats,
    output: { width: 320, height: 200 },
    avifAtHand: true,
    ...rest,
  });
  return choice.outcome === "chosen" ? choice.format : choice.outcome;
};

test("the original's type stays for callers that name neither WebP nor AVIF", () => {
  for (const accept of [
    undefined,
    "",
    "*/*",
    "image/*",
    "image/*;q=0.1",
    "text/html,*/*;q=0.8",
    "image/png,image/*;q=0.8",
  ]) {
    assert.equal(ask(accept, "jpeg"), "jpeg", accept);
    assert.equal(ask(accept, "tiff"), "jpeg", accept);
    assert.equal(ask(accept, "avif"), "avif", accept);
  }
  assert.equal(ask("*/*", "png"), "png");
  assert.equal(ask("*/*", "gif"), "gif");
  assert.equal(ask("*/*", "webp"), "webp");
});

test("WebP and AVIF are chosen when named with at least the same weight, AVIF first", () => {
  assert.equal(ask("image/webp"), "webp");
  assert.equal(ask("image/webp,*/*;q=0.8"), "webp");
  assert.equal(ask("image/webp,*/*"), "webp");
  assert.equal(ask("image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"), "avif");
  assert.equal(ask("image/avif;q=0.5,image/webp"), "webp");
  assert.equal(ask("IMAGE/WEBP ; Q=1.0"), "webp");
});

test("weights are respected: lower ones lose, 0 refuses, unreadable ones are ignored", () => {
  assert.equal(ask("image/webp;q=0.5,*/*"), "jpeg");
  assert.equal(ask("image/avif;q=0,image/webp;q=0,*/*"), "jpeg");
  assert.equal(ask("image/webp;q=0"), "not-acceptable");
  assert.equal(ask("image/webp;q=2,*/*"), "jpeg");
  assert.equal(ask("image/webp;q=high,*/*"), "jpeg");
  assert.equal(ask("image/jpeg;q=0,*/*"), "png");
  assert.equal(ask("*/*;q=0"), "not-acceptable");
  assert.equal(ask("image/*;q=0,image/webp;q=0.001"), "webp");
});

test("another type is chosen when the original's is not acceptable, and none is 406", () => {
  assert.equal(ask("image/png"), "png");
  assert.equal(ask("image/jpeg", "png"), "jpeg");
  assert.equal(ask("image/gif;q=0.2,image/png;q=0.3"), "png");
  assert.equal(ask("text/html"), "not-acceptable");
  assert.equal(ask("image/svg+xml,image/apng"), "not-acceptable");
});

test("an explicit format decides, unless Accept refuses that very type", () => {
  assert.equal(ask("image/png", "jpeg", { requested: "webp" }), "webp");
  assert.equal(ask("text/html", "jpeg", { requested: "jpeg" }), "jpeg");
  assert.equal(ask("image/webp;q=0,*/*", "jpeg", { requested: "webp" }), "not-acceptable");
  assert.equal(ask("*/*;q=0", "jpeg", { requested: "png" }), "not-acceptable");
});

test("an animation is not replaced by a still image", () => {
  const source = { format: "gif", frames: 12 } as const;
  assert.equal(ask("image/avif,image/webp,*/*", "gif", { source }), "webp");
  assert.equal(ask("image/avif,*/*", "gif", { source }), "gif");
});

test("AVIF that is not available is replaced, remembered, or promised for later", () => {
  const avifAtHand = false;
  assert.equal(ask("image/avif,image/webp,*/*", "jpeg", { avifAtHand }), "webp");
  assert.equal(ask("image/avif,*/*", "jpeg", { avifAtHand }), "jpeg");
  assert.equal(ask("image/avif", "jpeg", { avifAtHand }), "only-later");
  assert.equal(ask("*/*", "jpeg", { avifAtHand, requested: "avif" }), "only-later");
  const source = { format: "jpeg", frames: 1 } as const;
  const question = {
    requested: "auto",
    source,
    offered: outputFormats,
    output: { width: 9, height: 9 },
    avifAtHand,
  } as const;
  assert.deepEqual(chooseFormat({ ...question, accept: "image/avif,image/webp" }), {
    outcome: "chosen",
    format: "webp",
    wanted: "avif",
  });
});

test("a format that cannot contain the size is not chosen", () => {
  const output = { width: 20_000, height: 300 };
  assert.equal(ask("image/avif,image/webp,*/*", "jpeg", { output }), "jpeg");
  assert.equal(ask("*/*", "jpeg", { output, requested: "webp" }), "not-acceptable");
});

test("a disabled format is never made, named or not", () => {
  const offered = outputFormats.filter((format) => format !== "avif");
  assert.equal(ask("image/avif,image/webp", "jpeg", { offered }), "webp");
  assert.equal(ask("image/avif", "jpeg", { offered }), "not-acceptable");
  assert.equal(ask("*/*", "jpeg", { offered, requested: "avif" }), "not-acceptable");
  assert.equal(ask("*/*", "avif", { offered }), "jpeg");
});

const types = ["image/jpeg", "image/png", "image/webp", "image/avif", "image/gif", "image/*", "*/*", "text/html"];
const ranges = fc.uniqueArray(
  fc.tuple(fc.constantFrom(...types), fc.constantFrom("", ";q=0", ";q=0.3", ";q=0.301", "; q=1.000", ";level=1;q=0.5")),
  { minLength: 1, selector: ([type]) => type },
);

test("any Accept gets an acceptable type, WebP or AVIF only by name, whatever the order", () => {
  fc.assert(
    fc.property(ranges, fc.constantFrom(...inputFormats), (wished, from) => {
      const accept = wished.map(([type, weight]) => type + weight).join(", ");
      const reversed = wished.map(([type, weight]) => type + weight).reverse();
      const shown = ask(accept, from);
      assert.equal(ask(reversed.join(","), from), shown);
      if (shown === "not-acceptable" || shown === "only-later") return;
      const { mimeType } = outputTraits[shown];
      assert.ok(parseAccept(accept).weightOf(mimeType) > 0);
      if ((shown === "webp" || shown === "avif") && shown !== from) assert.ok(accept.includes(mimeType));
    }),
  );
  fc.assert(fc.property(fc.string(), (accept) => assert.notEqual(ask(accept), "")));
});
