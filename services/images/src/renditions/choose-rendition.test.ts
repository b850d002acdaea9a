import assert from "node:assert/strict";
import { test } from "node:test";
import { newImage } from "../images/image.ts";
import { NewImageFields } from "../images/image-fields.ts";
import { chooseRendition } from "./choose-rendition.ts";
import { ContentQuery } from "./content-query.ts";

const image = newImage(
  "acc_1",
  {
    ...{ filename: "photo.jpg", sha256: "a".repeat(64), sizeBytes: 9, placeholder: "AAAA", dominantColor: "#102030" },
    facts: {
      ...{ format: "jpeg", mimeType: "image/jpeg", width: 1000, height: 500 },
      ...{ frames: 1, hasAlpha: false, isProgressive: false },
    },
  },
  NewImageFields.parse({ visibility: "public" }),
  { now: new Date(), renderDueAt: new Date() },
);

function choose(given: Record<string, string>, accept: string, options: { avif?: boolean; max?: number } = {}) {
  const { avif: isAvifOffered = true, max = 20_000 } = options;
  const choice = chooseRendition(image, { query: ContentQuery.parse(given), accept, isAvifOffered }, max);
  if (choice.outcome === "not-acceptable" || choice.outcome === "too-large") return choice.outcome;
  const later = choice.outcome === "chosen" && choice.later ? ` before ${choice.later.format}` : "";
  return `${choice.outcome} ${choice.rendition.format}${later}`;
}

test("an AVIF too large to wait for is made later: another format now, and none when nothing else will do", () => {
  assert.equal(choose({ width: "640" }, "image/avif,image/webp,*/*;q=0.5"), "chosen webp before avif");
  assert.equal(choose({ width: "640" }, "image/avif"), "only-later avif");
  assert.equal(choose({ width: "100" }, "image/avif"), "chosen avif");
});

test("an AVIF that is stored is shown however large it is", () => {
  assert.equal(choose({ width: "640" }, "image/avif", { max: Number.POSITIVE_INFINITY }), "chosen avif");
});

test("where AVIF is switched off it is never promised", () => {
  assert.equal(choose({ width: "640" }, "image/avif,image/webp", { avif: false }), "chosen webp");
  assert.equal(choose({ width: "640" }, "image/avif", { avif: false }), "not-acceptable");
});
