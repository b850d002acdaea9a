import assert from "node:assert/strict";
import { test } from "node:test";
import { hours } from "@signalbox/core";
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
