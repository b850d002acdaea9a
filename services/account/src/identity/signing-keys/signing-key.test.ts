import assert from "node:assert/strict";
import { test } from "node:test";
import { hours, minutes } from "@signalbox/core";
import { dueKeys, isOver, newSigningKey, publicJwkOf, publishedKeys, type SigningKey } from "./signing-key.ts";

const start = new Date("2026-01-01T00:00:00.000Z");
const after = (milliseconds: number): Date => new Date(start.getTime() + milliseconds);
const days = (count: number): number => hours(24) * count;
const rotation = days(30);

const kids = (keys: readonly SigningKey[]): string[] => keys.map(({ privateJwk }) => privateJwk.kid);

/** A key that is replaced after thirty days. */
const first = { ...(await newSigningKey("ES256", start, start)), retiredAt: after(days(30)) };
const second = await newSigningKey("ES256", after(days(30) - hours(1)), after(days(30)));
const rsa = await newSigningKey("RS256", start, start);

/** The start of the next key for ES256, where the RSA key is young. */
function nextActiveFrom(keys: readonly SigningKey[], now: Date): Date | null {
  const young = { ...rsa, activeFrom: now };
  return dueKeys([...keys, young], now, rotation)[0]?.activeFrom ?? null;
}

test("a new house signs at once, by each algorithm", () => {
  const due = (algorithm: "ES256" | "RS256") => ({ algorithm, activeFrom: start });
  assert.deepEqual(dueKeys([], start, rotation), [due("ES256"), due("RS256")]);
  assert.deepEqual(dueKeys([second], start, rotation), [due("RS256")], "a house of an earlier release");
});

test("the next key is made once, an hour before the rotation", () => {
  const alone = { ...first, retiredAt: null };
  assert.equal(nextActiveFrom([alone], after(days(30) - hours(1) - 1)), null);
  assert.deepEqual(nextActiveFrom([alone], after(days(30) - hours(1))), after(days(30)));
  assert.equal(nextActiveFrom([first, second], after(days(30))), null);
});

test("after a long stop the next key is published for an hour before it signs, all the same", () => {
  const late = after(days(90));
  assert.deepEqual(nextActiveFrom([{ ...first, retiredAt: null }], late), after(days(90) + hours(1)));
});

test("a new key is published before it signs", () => {
  const both = [second, first];
  assert.deepEqual(kids(publishedKeys(both, after(days(30) - 1))), kids([first, second]));
  assert.deepEqual(kids(publishedKeys(both, after(days(30)))), kids([second, first]));
});

test("each algorithm has its own signing key", () => {
  assert.deepEqual(kids(publishedKeys([rsa, second, first], after(days(30) - 1))), kids([first, second, rsa]));
});

test("an old key is published until the last token that it signed has ended", () => {
  const end = days(30) + hours(1) + minutes(10);
  assert.deepEqual(kids(publishedKeys([first, second], after(end - 1))), kids([second, first]));
  assert.deepEqual(kids(publishedKeys([first, second], after(end))), kids([second]));
  assert.deepEqual([isOver(first, after(end - 1)), isOver(first, after(end))], [false, true]);
});

test("what is published has nothing private", () => {
  const { d: _, ...published } = first.privateJwk;
  assert.deepEqual(publicJwkOf(first), published);
  assert.deepEqual(Object.keys(publicJwkOf(rsa)).sort(), ["alg", "e", "kid", "kty", "n", "use"]);
});
