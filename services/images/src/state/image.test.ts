import assert from "node:assert/strict";
import { test } from "node:test";
import { changeImage, newImage, type Original } from "./image.ts";
import { cleanFilename, filename } from "./image-fields.ts";

const at = new Date("2026-01-02T03:04:05.678Z");
const later = new Date("2026-01-02T04:00:00.000Z");
const original: Original = {
  filename: "photo.jpg",
  sha256: "a".repeat(64),
  sizeBytes: 9,
  placeholder: "AAAA",
  dominantColor: "#102030",
  colorSpace: "srgb",
  hdr: null,
  facts: {
    format: "jpeg",
    mimeType: "image/jpeg",
    width: 3,
    height: 2,
    frames: 1,
    hasAlpha: false,
    isProgressive: true,
  },
};
const fields = {
  title: "Hills",
  caption: null,
  alt_text: "Green hills",
  tags: ["sea"],
  visibility: "private",
} as const;
const image = newImage("acc_1", original, { ...fields, tags: [...fields.tags] }, at);

test("a new record of the file's facts with the client's fields waits for its variants", () => {
  assert.match(image.id, /^img_/);
  assert.match(image.renderJobId, /^job_/);
  assert.deepEqual(
    { ...image, id: "", renderJobId: "" },
    {
      id: "",
      accountId: "acc_1",
      filename: "photo.jpg",
      sha256: "a".repeat(64),
      sizeBytes: 9,
      placeholder: "AAAA",
      dominantColor: "#102030",
      colorSpace: "srgb",
      hdr: null,
      failureCode: null,
      failedAt: null,
      mimeType: "image/jpeg",
      width: 3,
      height: 2,
      frames: 1,
      hasAlpha: false,
      isProgressive: true,
      title: "Hills",
      caption: null,
      altText: "Green hills",
      tags: ["sea"],
      visibility: "private",
      status: "processing",
      focalPoint: null,
      transformations: {},
      renderJobId: "",
      renderAttempt: 1,
      revision: 1n,
      renderIssues: 1,
      createdAt: at,
      updatedAt: at,
    },
  );
});

test("a change of values is listed under their wire names in one revision", () => {
  const changes = { title: "Hills", alt_text: null, tags: ["sea", "sky"], focal_point: { x: 0.5, y: 0 } };
  const { image: changed, changed: names } = changeImage(image, changes, later);
  assert.deepEqual(names, ["alt_text", "tags", "focal_point"]);
  const expected = {
    altText: null,
    tags: ["sea", "sky"],
    focalPoint: { x: 0.5, y: 0 },
    revision: 2n,
    updatedAt: later,
  };
  assert.deepEqual(changed, { ...image, ...expected });
});

test("an empty change leaves the record as it is", () => {
  const same = { title: "Hills", caption: undefined, tags: ["sea"], focal_point: null };
  assert.deepEqual(changeImage(image, same, later), { image, changed: [] });
});

test("a name that its sender cannot change is cleaned, never refused", () => {
  const cleaned = [
    ["harbour.jpg", "harbour.jpg"],
    ["a\u202egpj.exe\u0000.jpg", "agpj.exe.jpg"],
    ["C:\\photos/a%22b%0D.png", 'C:_photos_a"b.png'],
    [`${"ä".repeat(300)}.jpeg`, `${"ä".repeat(125)}.jpeg`],
    ["..", ""],
    ["\ud800.jpg", "\ufffd.jpg"],
    [" \u200f ", ""],
  ] as const;
  for (const [given, wanted] of cleaned) {
    assert.equal(cleanFilename(given), wanted);
    if (wanted !== "") assert.equal(filename.parse(wanted), wanted);
  }
});
