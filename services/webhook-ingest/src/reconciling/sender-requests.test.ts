import assert from "node:assert/strict";
import { test } from "node:test";
import { numberText, parseExactly } from "./sender-requests.ts";

test("numbers of a sender keep their digits", () => {
  const json = '{"id":9007199254740993,"amount":1.10,"large":1e400,"small":7,"text":"9007199254740993.0"}';
  const value = parseExactly(json) as { readonly id: unknown; readonly small: unknown };
  assert.equal(numberText.parse(value.id), "9007199254740993");
  assert.equal(numberText.parse(value.small), "7");
  assert.equal(JSON.stringify(value), json);
  assert.ok(!numberText.safeParse({}).success);
});
