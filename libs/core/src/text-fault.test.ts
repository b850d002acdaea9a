import assert from "node:assert/strict";
import { test } from "node:test";
import { shortened, textFault } from "./text-fault.ts";

const faultsOf = (texts: readonly string[], options?: Parameters<typeof textFault>[1]) =>
  texts.flatMap((text) => {
    const fault = textFault(text, options);
    return fault === null ? [] : [[text, fault]];
  });

const names = [
  "Ada ❤️",
  "☀︎ Sun",
  "👩‍💻 Team",
  "👨‍👩‍👧‍👦",
  "🏳️‍🌈 Pride",
  "👍🏽 Crew",
  "1️⃣ First",
  "🇩🇪 Berlin",
  "🏴󠁧󠁢󠁳󠁣󠁴󠁿 Alba",
  "شركة\u200Cها",
  "क्\u200D",
  "ශ්\u200Dරී",
  "ന്\u200D നാട്",
  "ᠭ\u180Bᠣ",
  "葛\u{E0100}城",
  "Nguyễn Thị Ánh",
  "O’Brien-Łukasz",
  "Zoë",
];

test("names of every writing are taken", () => {
  assert.deepEqual(faultsOf(names, { isName: true }), []);
  assert.deepEqual(faultsOf(names), []);
});

test("an invisible character outside of its sequence is a fault of a name", () => {
  const hidden = ["A\uFE0Fda", "1\uFE0F", "Ad\u200Ba", "soft\u00ADhyphen", "\u200DAda", "Ada\u200D", "a\u200D\u200Cb"];
  const wrong = [...hidden, "Ada\u{E0100}", "A\u180Bda", "🏴\u{E0067}", "A\u{E0061}da", "😀\u{E0061}\u{E007F}"];
  assert.deepEqual(faultsOf(wrong, { isName: true }).length, wrong.length);
});

test("a text may have marks of its typography but no tags", () => {
  assert.deepEqual(faultsOf(["soft\u00ADhyphen", "\u200Eלוגו.png", "a\u200Bb"]), []);
  assert.equal(textFault("A\u{E0061}da"), "hidden");
});

test("nine combining marks in a row are too many, with joiners between them as well", () => {
  assert.equal(textFault(`a${"\u0316".repeat(8)}b`), null);
  assert.equal(textFault(`a${"\u0316".repeat(9)}b`), "stacked");
  assert.equal(textFault(`a${"\u0316\u200D".repeat(5)}`), "stacked");
});

test("line breaks are for texts of several lines; controls, turned writing are for none", () => {
  assert.deepEqual(
    ["a\nb", "a\tb"].map((text) => textFault(text)),
    ["broken", "broken"],
  );
  assert.deepEqual(
    ["a\nb", "a\tb"].map((text) => textFault(text, { lines: true })),
    [null, null],
  );
  assert.deepEqual(
    ["a\u0000b", "a\u2028b", "\ud800"].map((text) => textFault(text, { lines: true })),
    ["broken", "broken", "broken"],
  );
  assert.deepEqual(
    ["a\u202Eb", "a\u2066b"].map((text) => textFault(text)),
    ["turned", "turned"],
  );
});

test("a text is shortened between the characters that people see", () => {
  assert.equal(shortened("Ada Byron", 9), "Ada Byron");
  assert.equal(shortened("Ada Byron", 5), "Ada…");
  assert.equal(shortened("ab👨‍👩‍👧‍👦", 6), "ab…");
});
