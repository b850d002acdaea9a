import assert from "node:assert/strict";
import { test } from "node:test";
import { createHmacScheme } from "./hmac-scheme.ts";
import { parseSignedContent } from "./signed-content.ts";

test("a template is parsed into texts, parts of the request and headers", () => {
  assert.deepEqual(parseSignedContent("v0:{timestamp}{header:X-Shop}\n{body}"), [
    { text: "v0:" },
    { placeholder: "timestamp" },
    { header: "x-shop" },
    { text: "\n" },
    { placeholder: "body" },
  ]);
});

test("a template without the body, with it twice, or with an unknown part is refused with the reason", () => {
  for (const template of ["", "{timestamp}", "body", "{body}{body}"]) {
    assert.match(String(parseSignedContent(template)), /must have \{body\} once/, template);
  }
  for (const template of [
    "{body}{}",
    "{body}{Body}",
    "{body}{header:}",
    "{body}{header:a b}",
    "{body}{",
    "}{body}",
    "{ body}",
  ]) {
    assert.match(String(parseSignedContent(template)), /is unknown/, template);
  }
});

test("a time in the body is checked in its unit, both ways", () => {
  const scheme = createHmacScheme({ signedContent: "{body}", timestampFrom: { pointer: "/sent~1at" }, timeUnit: "ms" });
  const judged = (payload: unknown) => {
    const verdict = scheme.verifyTime?.(payload, { secrets: [], nowSeconds: 1_700_000_000, toleranceSeconds: 300 });
    return verdict?.verified ? verdict.timestampSeconds : verdict?.problem;
  };
  assert.equal(judged({ "sent/at": 1_700_000_000_250 }), 1_700_000_000.25);
  assert.equal(judged({ "sent/at": "1700000000250" }), 1_700_000_000.25);
  assert.equal(judged({ "sent/at": 1_700_000_000 }), "timestamp_too_old");
  assert.equal(judged({ "sent/at": 1_700_000_301_000 }), "timestamp_in_future");
  assert.equal(judged({ "sent/at": "soon" }), "timestamp_malformed");
  for (const payload of [{}, null, [], { "sent/at": 1.5 }]) assert.equal(judged(payload), "timestamp_missing");
});
