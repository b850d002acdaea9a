import assert from "node:assert/strict";
import { test } from "node:test";
import { namedUuidv7, newId, randomId, timeOfPublicId, uuidv7 } from "./ids.ts";

const many = Array.from({ length: 5_000 }, (_, index) => index);

test("a UUIDv7 carries its milliseconds, version and variant, and no random bits twice", () => {
  const nowMs = Date.UTC(2026, 10, 21);
  const ids = many.map(() => uuidv7(nowMs));
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.ok(ids.every((id) => Number.parseInt(id.replace("-", "").slice(0, 12), 16) === nowMs));
  assert.equal(new Set(ids.map((id) => id.slice(-12))).size, ids.length);
});

test("a named UUIDv7 is the same for the same moment and name alone", () => {
  const [id, again] = [namedUuidv7(60_000, "a"), namedUuidv7(60_000, "a")];
  assert.match(id, /^00000000-ea60-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(again, id);
  assert.notEqual(namedUuidv7(60_001, "a"), id);
  assert.notEqual(namedUuidv7(60_000, "b"), id);
});

test("public ids carry their prefix and sort by creation time", () => {
  const [older, newer] = [newId("img", 1_000), newId("img", 1_001)];
  assert.match(older, /^img_[0-9a-hjkmnp-tv-z]{26}$/);
  assert.ok(older < newer);
  assert.equal(new Set(many.map(() => newId("img", 1_000))).size, many.length);
});

test("a public id contains its creation time, and other texts give null", () => {
  for (const ms of [0, 1, 1_000, Date.UTC(2026, 10, 21, 9), 2 ** 48 - 1])
    assert.equal(timeOfPublicId(newId("img", ms)), ms);
  const id = newId("img");
  for (const other of [
    "",
    "img_",
    randomId("src"),
    id.slice(0, -1),
    `${id}0`,
    id.toUpperCase(),
    `img_z${id.slice(5)}`,
  ]) {
    assert.equal(timeOfPublicId(other), null, other);
  }
});

test("a random id reveals no time", () => {
  assert.match(randomId("src"), /^src_[0-9A-Za-z]{22}$/);
  assert.equal(new Set(many.map(() => randomId("src"))).size, many.length);
});
