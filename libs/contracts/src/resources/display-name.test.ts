import assert from "node:assert/strict";
import { test } from "node:test";
import { displayName } from "./display-name.ts";

const kept = (name: unknown) => displayName.safeParse(name).data;
const assertGood = (names: readonly string[]) => {
  for (const name of names) assert.equal(kept(name), name, JSON.stringify(name));
};
const assertBad = (names: readonly string[]) => {
  for (const name of names) assert.equal(kept(name), undefined, JSON.stringify(name));
};

test("a name has 1–100 characters as people count them", () => {
  assertGood([
    "A",
    "0",
    "false",
    "null",
    "x".repeat(100),
    "😀".repeat(100),
    "Ada Byron",
    "Ærøskøbing",
    "李小龙",
    "עדה",
  ]);
  assertBad(["", "x".repeat(101), "😀".repeat(101)]);
});

test("a name is kept trimmed and in one Unicode form", () => {
  assert.equal(kept(" \u00A0Ada\u3000Byron\t\n"), "Ada\u3000Byron");
  assert.equal(kept("Jo\u0308rg"), "Jörg");
  assert.equal(kept(` ${"x".repeat(100)} `), "x".repeat(100));
});

test("a name can be seen", () => {
  assertGood(["?", "…", "💡", "१"]);
  assertBad([" ", "\u2800", "\u2800 \u2800", "\u0301", "\u3164", "\u115F", "\u200B", "\u2060", "\u00AD", "\uFEFF"]);
});

test("a name has no invisible or direction-changing characters", () => {
  const hidden = ["Ad\u200Ba", "soft\u00ADhyphen", "Ada\u2060", "\u200EAda", "Ada\u{E0061}", "A\uFE0Fda", "\u034FAda"];
  assertBad([...hidden, "a\u202Eb", "a\u2066b", "a\u0000b", "a\nb", "\u007FAda", "a\u0085b", "a\u2028b", "x\ud800"]);
});

test("ZWJ and ZWNJ are within words and nowhere else", () => {
  assertGood(["می\u200Cخواهم", "ශ්\u200Dරී", "👩\u200D💻"]);
  assertBad(["\u200DAda", "Ada\u200C", "Ada \u200DByron", "Ada\u200C Byron", "a\u200D\u200Cb", "a\u200C-b"]);
});
