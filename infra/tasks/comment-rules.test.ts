import assert from "node:assert/strict";
import { test } from "node:test";
import { commentRules } from "./comment-rules.ts";

const found = (text: string) =>
  commentRules.flatMap(({ find }) => find([{ path: "libs/x/src/a.ts", text }])).map((place) => place.split(": ")[1]);

test("a docstring that begins like a question is found, on one line or on several", () => {
  for (const word of ["What", "How", "Whether", "Who", "Where", "When"]) {
    assert.deepEqual(found(`const a = 1;\n  /** ${word} it is. */\n`), [`${word} it is.`]);
  }
  assert.deepEqual(found("/**\n * How long it\n * waits.\n */\n"), ["How long it waits."]);
});

test("a comment that leaves open who acts is found, wherever the words stand", () => {
  assert.deepEqual(found("// Read by whoever asks.\n"), ["Read by whoever asks."]);
  assert.deepEqual(found("/**\n * Keeps what is\n * told.\n */\n"), ["Keeps what is told."]);
});

test("plain comments, other words and texts of the program pass", () => {
  const text = [
    "/** Keeps the key. What it opens stays. */",
    "/** Whole seconds. */",
    "// When the lease ends, another takes over.",
    'const text = "whoever";',
  ].join("\n");
  assert.deepEqual(found(text), []);
});
