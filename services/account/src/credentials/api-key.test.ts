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

test("a replaced key ends with the overlap, and never later than it would have", () => {
  const endOf = (expiresAt: Date | null) => replacedKey(keyUntil(expiresAt), "key_2", hours(24), now);
  assert.deepEqual(endOf(null).key.expiresAt, later(hours(24)));
  assert.deepEqual(endOf(later(hours(25))).key.expiresAt, later(hours(24)));
  assert.deepEqual(endOf(later(hours(23))).key.expiresAt, later(hours(23)));
  assert.deepEqual(endOf(later(hours(23))).changed, ["replaced_by"]);
  assert.deepEqual([endOf(null).key.replacedBy, endOf(null).key.accessEpoch], ["key_2", 1]);
});

test("without an overlap the replaced key is revoked at once", () => {
  const { key, changed } = replacedKey(keyUntil(null), "key_2", 0, now);
  assert.deepEqual([key.revokedAt, changed], [now, ["status", "revoked_at", "replaced_by"]]);
});
