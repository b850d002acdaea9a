import assert from "node:assert/strict";
import { test } from "node:test";
import { hours, minutes } from "@signalbox/core";
import {
  isOver,
  newSigningKey,
  nextActiveFrom,
  publicJwkOf,
  publishedKeys,
  type SigningKey,
} from "../identity/signing-keys/signing-key.ts";
import { expiryOfReplacement, makeApiKey, replacedKey } from "./api-key.ts";

const made = new Date("2026-01-01T00:00:00.000Z");
const now = new Date("2026-03-01T00:00:00.000Z");
const later = (ms: number) => new Date(now.getTime() + ms);
const wanted = { accountId: "acc_1", createdBy: "person", name: "deploy", scopes: [], roles: [] };
const keyUntil = (expiresAt: Date | null) => makeApiKey({ ...wanted, expiresAt }, "dev", made).credential;

test("a new key lives as long as the one it replaces was made to live", () => {
  const days90 = new Date(made.getTime() + hours(90 * 24));
  assert.deepEqual(expiryOfReplacement(keyUntil(days90), now), later(hours(90 * 24)));
  assert.equal(expiryOfReplacement(keyUntil(null), now), null);
});

test("a replaced key ends with the overlap, without one at once, and every service looks it up again", () => {
  const [kept, ended] = [later(hours(24)), null].map((endsAt) => replacedKey(keyUntil(null), "key_2", endsAt, now));
  assert.deepEqual([kept?.expiresAt, kept?.revokedAt], [later(hours(24)), null]);
  assert.deepEqual([ended?.expiresAt, ended?.revokedAt], [null, now]);
  assert.deepEqual([kept?.replacedBy, kept?.accessEpoch], ["key_2", 1]);
});

const start = new Date("2026-01-01T00:00:00.000Z");
const after = (milliseconds: number): Date => new Date(start.getTime() + milliseconds);
const days = (count: number): number => hours(24) * count;
const rotation = days(30);

const kids = (keys: readonly SigningKey[]): string[] => keys.map(({ privateJwk }) => privateJwk.kid);

/** A key that is replaced after thirty days. */
const [first, second] = [
  { ...newSigningKey(start, start), retiredAt: after(days(30)) },
  newSigningKey(after(days(30) - hours(1)), after(days(30))),
];

test("a new house signs at once", () => {
  assert.deepEqual(nextActiveFrom([], start, rotation), start);
});

test("the next key is made once, an hour before the rotation", () => {
  const alone = { ...first, retiredAt: null };
  assert.equal(nextActiveFrom([alone], after(days(30) - hours(1) - 1), rotation), null);
  assert.deepEqual(nextActiveFrom([alone], after(days(30) - hours(1)), rotation), after(days(30)));
  assert.equal(nextActiveFrom([first, second], after(days(30)), rotation), null);
});

test("after a long stop the next key is published for an hour before it signs, all the same", () => {
  const late = after(days(90));
  assert.deepEqual(nextActiveFrom([{ ...first, retiredAt: null }], late, rotation), after(days(90) + hours(1)));
});

test("a new key is published before it signs", () => {
  const both = [second, first];
  assert.deepEqual(kids(publishedKeys(both, after(days(30) - 1))), kids([first, second]));
  assert.deepEqual(kids(publishedKeys(both, after(days(30)))), kids([second, first]));
});

test("an old key is published until the last token that it signed has ended", () => {
  const end = days(30) + hours(1) + minutes(10);
  assert.deepEqual(kids(publishedKeys([first, second], after(end - 1))), kids([second, first]));
  assert.deepEqual(kids(publishedKeys([first, second], after(end))), kids([second]));
  assert.deepEqual([isOver(first, after(end - 1)), isOver(first, after(end))], [false, true]);
});

test("what is published has nothing private", () => {
  const { kid, x, y } = first.privateJwk;
  assert.deepEqual(publicJwkOf(first), { kty: "EC", crv: "P-256", x, y, kid, alg: "ES256", use: "sig" });
});
