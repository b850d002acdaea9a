import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import fc from "fast-check";
import { expiryOf, type Grant, isSignedBy, queryOf, readSignature, signGrant } from "./url-signature.ts";

const key = { id: "key_1", secret: Buffer.alloc(32, 7) };
const grant: Grant = {
  path: "/images/img_1/content",
  parameters: new Map([
    ["width", "320"],
    ["format", "webp"],
  ]),
  expiresAt: 1_800_000_000,
};
const holds = (text: string, for_: Grant = grant, by = key): boolean => {
  const read = readSignature(text);
  return read !== null && read.keyId === by.id && isSignedBy(by, read, { ...for_, expiresAt: read.expiresAt });
};

test("a signature is valid for its grant, in any order of the parameters", () => {
  const text = signGrant(key, grant);
  assert.equal(holds(text), true);
  assert.equal(holds(text, { ...grant, parameters: new Map([...grant.parameters].reverse()) }), true);
});

test("a signature has one spelling, of which each bit counts", () => {
  const text = signGrant(key, grant);
  for (let at = 0; at < text.length; at++) {
    for (let bit = 0; bit < 7; bit++) {
      const changed = String.fromCharCode(text.charCodeAt(at) ^ (1 << bit));
      assert.equal(holds(text.slice(0, at) + changed + text.slice(at + 1)), false, `${at} ${bit}`);
    }
  }
  for (const other of [
    `${text}=`,
    ` ${text}`,
    text.slice(0, -1),
    text.replace("v1", "v2"),
    text.replace(".18", ".018"),
    "",
  ])
    assert.equal(readSignature(other) !== null && holds(other), false, other);
});

test("another image, parameter, value, expiry or key is another grant", () => {
  const text = signGrant(key, grant);
  const others: Grant[] = [
    { ...grant, path: "/images/img_2/content" },
    { ...grant, parameters: new Map([...grant.parameters, ["height", "1"]]) },
    { ...grant, parameters: new Map([["width", "320"]]) },
    { ...grant, parameters: new Map([...grant.parameters, ["width", "321"]]) },
    { ...grant, parameters: new Map([["width", "320&format=webp"]]) },
  ];
  for (const other of others) assert.equal(holds(text, other), false, JSON.stringify([...other.parameters]));
  assert.equal(holds(text.replace("1800000000", "1800000001")), false);
  assert.equal(holds(text, grant, { ...key, secret: randomBytes(32) }), false);
  assert.equal(holds(text.replace("key_1", "key_2"), grant, { ...key, id: "key_2" }), false);
});

test("different parameters never result in the same text", () => {
  const parameters = fc.uniqueArray(fc.tuple(fc.string({ maxLength: 5 }), fc.string({ maxLength: 5 })), {
    maxLength: 4,
    selector: ([name]) => name,
  });
  const sorted = (given: [string, string][]) => JSON.stringify([...given].sort(([a], [b]) => (a < b ? -1 : 1)));
  fc.assert(
    fc.property(parameters, parameters, (one, other) => {
      const isSame = queryOf(new Map(one)) === queryOf(new Map(other));
      assert.equal(isSame, sorted(one) === sorted(other));
    }),
  );
});

test("a URL lives as long as requested or up to a quarter longer, to share its expiry", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4e12 }), fc.integer({ min: 60, max: 604_800 }), (nowMs, lives) => {
      const left = expiryOf(nowMs, lives) - nowMs / 1000;
      assert.ok(left >= lives && left <= lives * 1.25 + 1, `${left} of ${lives}`);
    }),
  );
  const at = (seconds: number) => expiryOf(1_800_000_000_000 + seconds * 1000, 3600);
  assert.equal(new Set([1, 200, 450, 899].map(at)).size, 1);
  assert.notEqual(at(1), at(901));
});

test("the example on the page about signing is signed as it says", async () => {
  const page = await readFile(new URL("../../../docs/how-to/sign-image-urls.md", import.meta.url), "utf8");
  const cell = (part: string) => new RegExp(`^\\| ${part} \\| (.+) \\|$`, "m").exec(page)?.[1] ?? "";
  const [id, secret, image, expiry, query, mac] = ["key id", "secret", "image", "expiry", "query", "HMAC"].map((part) =>
    cell(part).replaceAll("`", ""),
  );
  const pairs = [...cell("parameters").matchAll(/`(\w+)=([^`]+)`/g)].map(
    ([, name = "", value = ""]) => [name, value] as const,
  );
  const parameters = new Map(pairs);
  assert.equal(queryOf(parameters), query);
  const made = { id: `${id}`, secret: Buffer.from(`${secret}`, "base64url") };
  const signed = signGrant(made, { path: `/images/${image}/content`, parameters, expiresAt: Number(expiry) });
  assert.equal(signed, `v1.${id}.${expiry}.${mac}`);
});
