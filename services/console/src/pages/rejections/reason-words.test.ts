import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { figureTexts, reasonNames, wordsOf } from "./reason-words.ts";

const none = {
  age_seconds: null,
  tolerance_seconds: 300,
  expected: "github" as const,
  found: "github" as const,
  headers_seen: [],
  headers_missing: [],
};

test("the age of a signature is said with its side, next to what the source accepts", () => {
  assert.deepEqual(figureTexts({ ...none, age_seconds: 720 }), [
    "It was signed 12 min before it arrived; the source accepts 5 min.",
  ]);
  assert.deepEqual(figureTexts({ ...none, age_seconds: -7200, tolerance_seconds: null }), [
    "It was signed 2 h after it arrived.",
  ]);
});

test("only what is wrong is named: another scheme or missing headers", () => {
  assert.deepEqual(figureTexts(none), []);
  const wrong = { ...none, found: null, headers_missing: ["x-hub-signature-256"], headers_seen: ["x-github-event"] };
  assert.deepEqual(figureTexts(wrong), [
    "The source expects the scheme github; its headers show no known scheme.",
    "Missing headers: x-hub-signature-256.",
    "Received headers: x-github-event.",
  ]);
});

test("a reason without words of its own is shown as it is", () => {
  assert.match(wordsOf("of_tomorrow").what, /of_tomorrow/);
});

const explanations = new URL("../../../../webhook-ingest/src/receiving/explain-webhook.ts", import.meta.url);

test("exactly the reasons that the API explains have words here", async () => {
  const [, table = ""] = (await readFile(explanations, "utf8")).split("const reasons");
  const known = [...table.slice(0, table.indexOf("\n};")).matchAll(/^ {2}(\w+): \[/gm)].map(([, reason]) => reason);
  assert.ok(known.length > 20);
  assert.deepEqual(reasonNames, known.toSorted());
});
