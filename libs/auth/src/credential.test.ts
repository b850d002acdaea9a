import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { isAppError } from "@signalbox/core";
import { createApiKey, digestApiKey, parseApiKey, sameDigest } from "./api-key.ts";
import { credentialBytesMax, credentialFrom, digestCredential } from "./credential.ts";
import { internalTokenMatches } from "./internal-token.ts";

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

test("a digest depends on the kind of credential, without showing the secret", () => {
  const digest = digestCredential({ kind: "bearer", value: "sbx_secret" });
  assert.equal(digest, digestCredential({ kind: "bearer", value: "sbx_secret" }));
  for (const kind of ["api-key", "basic"] as const) {
    assert.notEqual(digest, digestCredential({ kind, value: "sbx_secret" }));
  }
  assert.doesNotMatch(digest, /secret/);
});

test("a new key has the published shape with valid check digits", () => {
  const key = createApiKey("live");
  assert.match(key, /^sbx_live_[0-9A-Za-z]{36}$/);
  assert.deepEqual(parseApiKey(key), { environment: "live", hint: key.slice(0, 13) });
});

test("the check digits of a key are the CRC32 that scanners can compute offline", () => {
  assert.notEqual(parseApiKey("sbx_dev_0000000000000000000000000000000zsXXQ"), null);
  assert.equal(parseApiKey("sbx_dev_0000000000000000000000000000000zsXXR"), null);
});

test("the page for secret scanners is true to the keys we issue", async () => {
  const page = await readFile(new URL("../../../docs/how-to/find-leaked-keys.md", import.meta.url), "utf8");
  const cellOf = (step: string) => new RegExp(`^\\| ${step} \\| \`(.+)\` \\|$`, "m").exec(page)?.[1] ?? "";
  const expression = new RegExp(/^\\bsbx.*$/m.exec(page)?.[0] ?? "nothing", "g");
  const [key, body] = [cellOf("key"), cellOf("before the last six")];
  assert.equal(crc32(body).toString(16).padStart(8, "0"), cellOf("CRC-32"));
  assert.equal(body + cellOf("check digits"), key);
  assert.notEqual(parseApiKey(key), null);
  for (const made of [key, createApiKey("dev"), createApiKey("a1b2c3d4e5f6g7h8")]) {
    assert.deepEqual(`KEY="${made}"\n`.match(expression), [made]);
  }
  assert.equal(`${key}A`.match(expression), null);
});

test("one wrong character anywhere in a key is noticed before any look-up", () => {
  const key = createApiKey("dev");
  for (let position = "sbx_dev_".length; position < key.length; position++) {
    const other = key[position] === "A" ? "B" : "A";
    assert.equal(parseApiKey(key.slice(0, position) + other + key.slice(position + 1)), null);
  }
  assert.equal(parseApiKey(key.slice(0, -1)), null);
  assert.equal(parseApiKey(key.replace("sbx_dev_", "sbx_live_")), null);
});

test("two keys differ, as do their digests", () => {
  const [one, other] = [createApiKey("dev"), createApiKey("dev")];
  assert.notEqual(one, other);
  assert.equal(sameDigest(digestApiKey(one), digestApiKey(one)), true);
  assert.equal(sameDigest(digestApiKey(one), digestApiKey(other)), false);
});

test("an environment with invalid characters is refused when a key is created", () => {
  assert.throws(() => createApiKey("Prod_1"), /cannot be part of an API key/);
});

test("only the two live tokens are accepted during a rotation", () => {
  const live = ["new-token", "old-token"];
  assert.equal(internalTokenMatches("new-token", live), true);
  assert.equal(internalTokenMatches("old-token", live), true);
  for (const presented of [undefined, "", "older-token", "new-token ", ["new-token"]]) {
    assert.equal(internalTokenMatches(presented, live), false);
  }
});

test("without a live token every call is refused", () => {
  assert.equal(internalTokenMatches("", []), false);
  assert.equal(internalTokenMatches("anything", []), false);
});
