import assert from "node:assert/strict";
import { test } from "node:test";
import type { Image } from "@signalbox/client";
import { addressOf, bodyOfForm, type Form, formOf, htmlOf } from "./content-address.ts";

const url = "https://s.example/images/img_1/content?v=abc";
const image = { url, width: 1000, height: 500, alt_text: `a "quoted" <b> & more` } as Image;

test("an address has the form and the version, without empty parameters", () => {
  const form = formOf({ width: "960", fit: "", format: "webp", unknown: "x" });
  assert.equal(addressOf(image, form), "https://s.example/images/img_1/content?width=960&format=webp&v=abc");
  assert.equal(addressOf(image, {}), url);
});

test("the HTML offers the widths that the original has", () => {
  assert.match(
    htmlOf(image, {}),
    /srcset="[^"]*width=384&amp;v=abc 384w, [^"]*width=960&amp;v=abc 960w" sizes="100vw" width="1000"/,
  );
});

test("the HTML has the size in which the form comes", () => {
  const sizeOf = (form: Form) => /width="(\d+)" height="(\d+)" alt=/.exec(htmlOf(image, form))?.slice(1).join(" × ");
  assert.equal(sizeOf({ width: "96", height: "96", fit: "cover" }), "96 × 96");
  assert.equal(sizeOf({ width: "96", height: "96" }), "96 × 48");
  assert.equal(sizeOf({ width: "96", height: "96", fit: "outside" }), "192 × 96");
  assert.equal(sizeOf({ height: "100" }), "200 × 100");
  assert.equal(sizeOf({ width: "4000" }), "1000 × 500");
  assert.equal(sizeOf({ width: "4000", enlarge: "true" }), "4000 × 2000");
});

test("no text leaves its attribute in the HTML", () => {
  assert.match(htmlOf(image, {}), /alt="a &quot;quoted&quot; &lt;b> &amp; more"/);
});

test("a form in JSON has numbers where the address has texts", () => {
  assert.deepEqual(bodyOfForm({ width: "960", dpr: "1.5", quality: "auto", enlarge: "true", format: "webp" }), {
    width: 960,
    dpr: 1.5,
    quality: "auto",
    enlarge: true,
    format: "webp",
  });
});
