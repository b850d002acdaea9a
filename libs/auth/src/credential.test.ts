import assert from "node:assert/strict";
import { test } from "node:test";
import { isAppError } from "@signalbox/core";
import { credentialBytesMax, credentialFrom, digestCredential } from "./credential.ts";

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

test("a credential is found in each of its three places", () => {
  assert.deepEqual(credentialFrom({ "x-api-key": "sbx_k" }), { kind: "api-key", value: "sbx_k" });
  assert.deepEqual(credentialFrom({ authorization: "Bearer abc.def" }), { kind: "bearer", value: "abc.def" });
  assert.deepEqual(credentialFrom({ authorization: "bearer   abc" }), { kind: "bearer", value: "abc" });
  assert.deepEqual(credentialFrom({ authorization: basic("anyone:sbx:k") }), { kind: "basic", value: "sbx:k" });
  assert.equal(credentialFrom({ accept: "application/json" }), null);
});

test("two credentials in one request are refused", () => {
  const both = { "x-api-key": "one", authorization: "Bearer two" };
  assert.throws(
    () => credentialFrom(both),
    (error) => isAppError(error) && error.code === "invalid_request",
  );
});

for (const [what, headers] of Object.entries({
  "an unknown scheme": { authorization: "Digest abc" },
  "a scheme alone": { authorization: "Bearer" },
  "two tokens": { authorization: "Bearer one two" },
  "an empty key": { "x-api-key": "" },
  "two keys, as Node joins them": { "x-api-key": "one, two" },
  "Basic without a colon": { authorization: basic("nocolon") },
  "an empty password": { authorization: basic("user:") },
  "bytes that are no text": { authorization: basic("user:\u0000\u0001") },
  "a token beyond the limit": { authorization: `Bearer ${"a".repeat(credentialBytesMax + 1)}` },
})) {
  test(`${what} is refused as unauthorized`, () => {
    assert.throws(
      () => credentialFrom(headers),
      (error) => isAppError(error) && error.code === "unauthorized",
    );
  });
}

test("the digest of a credential hides it and differs for each kind of credential", () => {
  const digest = digestCredential({ kind: "bearer", value: "sbx_secret" });
  assert.equal(digest, digestCredential({ kind: "bearer", value: "sbx_secret" }));
  for (const kind of ["api-key", "basic"] as const) {
    assert.notEqual(digest, digestCredential({ kind, value: "sbx_secret" }));
  }
  assert.doesNotMatch(digest, /secret/);
});
