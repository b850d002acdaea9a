import assert from "node:assert/strict";
import { test } from "node:test";
import { serverProperties, supportedProperties } from "@signalbox/contracts/properties";
import { contrastOf, textColorOn } from "../pages/page.ts";
import { textLocales, textsFor, timeIn, translations } from "./texts.ts";

type Leaf = readonly [path: string, text: string];

/** Lists every text of a language by its path. */
function leavesOf(node: unknown, path = ""): Leaf[] {
  if (typeof node === "string") return [[path, node]];
  return Object.entries(node as object).flatMap(([key, child]) => leavesOf(child, `${path}/${key}`));
}

const placesOf = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();
const english = new Map(leavesOf(translations.en));
/** Words that some of these languages share with English. */
const shared = new Set(["/pages/code/code", "/pages/titleOfMistake"]);
const plainCode = "    {code}";

test("every locale that an account can choose has texts of its own", () => {
  for (const locale of supportedProperties["supported.locales"].default)
    assert.equal(textsFor([locale]).locale, locale);
});

for (const locale of textLocales) {
  test(`${locale}: every mail and page has every text, with the same values in it, and none is left in English`, () => {
    const texts = new Map(leavesOf(translations[locale]));
    assert.deepEqual([...texts.keys()].sort(), [...english.keys()].sort());
    for (const [path, text] of texts) {
      const original = english.get(path) ?? "";
      assert.ok(text.trim().length > 1, `${path} is empty`);
      assert.equal(text, text.normalize("NFC"), path);
      if (text !== plainCode) assert.doesNotMatch(text, /^\s| {2}|\s$/, `${path} has blanks too many`);
      assert.deepEqual(placesOf(text), placesOf(original), path);
      assert.doesNotMatch(text.replace(/\{\w+\}/g, ""), /[{}<>]/, path);
      if (locale !== "en" && text !== plainCode && !shared.has(path)) assert.notEqual(text, original, path);
    }
  });

  test(`${locale}: no text names an HTTP method or a path of the API`, () => {
    for (const [path, text] of leavesOf(translations[locale])) {
      assert.doesNotMatch(text, /\b(GET|POST|PUT|PATCH|DELETE)\b|\/api\//, path);
    }
  });

  test(`${locale}: codes and links stand on lines of their own, to be taken with one click`, () => {
    for (const [path, text] of leavesOf(translations[locale])) {
      for (const line of text.split("\n")) {
        for (const link of ["{link}", "{signIns}"]) if (line.includes(link)) assert.equal(line, link, path);
        if (line.includes("{code}")) assert.equal(line, plainCode, path);
      }
    }
  });

  // A right-to-left language would need the attribute `dir` on its pages.
  test(`${locale}: is written from left to right`, () => {
    const { direction } = (
      new Intl.Locale(locale) as unknown as { getTextInfo(): { direction: string } }
    ).getTextInfo();
    assert.equal(direction, "ltr");
  });
}

test("a reader gets the first of their languages that there is, else English", () => {
  const wanted: readonly (readonly [string[], string])[] = [
    [["de-AT"], "de"],
    [["pt-PT"], "pt-BR"],
    [["PT-br"], "pt-BR"],
    [["sv", "ja-JP", "de"], "ja"],
    [["und"], "en"],
    [["", "*", "x".repeat(10_000)], "en"],
    [[], "en"],
  ];
  for (const [given, locale] of wanted) assert.equal(textsFor(given).locale, locale);
});

test("times are written as the reader's clocks show them", () => {
  const at = new Date("2026-11-24T23:30:00Z");
  assert.equal(timeIn({ locale: "de" }, at, "Europe/Berlin"), "25. November 2026 um 00:30 MEZ");
  assert.match(timeIn({ locale: "en" }, at, "UTC"), /^November 24, 2026 at 11:30\sPM UTC$/);
});

test("contrasts are those of WCAG", () => {
  assert.equal(contrastOf("#000000", "#ffffff"), 21);
  assert.equal(contrastOf("#ffffff", "#ffffff"), 1);
  assert.equal(contrastOf("#767676", "#ffffff").toFixed(2), "4.54");
});

test("text on any colour that a deployment may choose has a contrast of 4.5 to 1 at least", () => {
  const steps = Array.from({ length: 18 }, (_, step) => (step * 15).toString(16).padStart(2, "0"));
  for (const red of steps) {
    for (const green of steps) {
      for (const blue of steps) {
        const color = `#${red}${green}${blue}`;
        assert.ok(contrastOf(color, textColorOn(color)) >= 4.5, color);
      }
    }
  }
});

test("a colour is six hexadecimal digits, and a logo is an https or an image's data URL of bounded length", () => {
  const passes = (name: keyof typeof serverProperties, value: string) =>
    new RegExp(`^(?:${(serverProperties[name] as { pattern: string }).pattern})$`, "u").test(value);
  for (const color of ["#0b57d0", "#FFFFFF"]) assert.ok(passes("server.color", color), color);
  for (const color of ["red", "#fff", "#0b57d0;}", "#0b57d0ff", ""]) assert.ok(!passes("server.color", color), color);
  for (const logo of [
    "https://cdn.example/logo.svg",
    "https://cdn.example:8443/a/b.png?v=2",
    `data:image/svg+xml;base64,${"A".repeat(8000)}`,
  ]) {
    assert.ok(passes("server.logo-url", logo), logo.slice(0, 60));
  }
  for (const logo of [
    "http://cdn.example/logo.svg",
    "https://user:password@cdn.example/logo.svg",
    "https://cdn.example/a;script-src *",
    "https://cdn.example/a,b",
    "https://cdn.example/a b",
    'https://cdn.example/"onerror=',
    "data:text/html;base64,AAAA",
    `data:image/png;base64,${"A".repeat(8001)}`,
    `https://cdn.example/${"a".repeat(501)}`,
  ]) {
    assert.ok(!passes("server.logo-url", logo), logo.slice(0, 60));
  }
});
