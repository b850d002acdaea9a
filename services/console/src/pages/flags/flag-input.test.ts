import assert from "node:assert/strict";
import test from "node:test";
import type { FlagDefinition } from "./flag.ts";
import { blankRule, inputOf, readFlag } from "./flag-input.ts";

const whole: FlagDefinition = {
  key: "checkout.new",
  state: "preview",
  type: "object",
  owner: "payments",
  description: "The new page.",
  expires: "2027-06-30",
  default: "one",
  off: "two",
  variants: [
    { name: "one", value: { size: 1, words: ["a b"] } },
    { name: "two", value: null },
  ],
  rules: [
    { name: "staff", accounts: ["acc_1", "acc_2"], roles: ["admin"], percentage: 12.345, variant: "one" },
    { locales: ["pt-BR"], variant: "two", age: { from: 3 } },
    { attributes: [{ name: "plan", operator: "in", value: ["pro", 7] }], percentage: 5, by: "userId", variant: "two" },
  ],
  schedule: { from: "2026-01-01T00:00:00.000Z", until: "2026-02-01T10:20:30.400Z" },
  prerequisites: [{ flag: "other", variants: ["on", "half"] }],
  salt: "mine",
  client: true,
};

test("a flag survives the form unchanged, with every part that it can have", () => {
  assert.deepEqual(readFlag(inputOf(whole)), whole);
  const bare = { ...whole, type: "boolean", schedule: null, expires: null, rules: [], prerequisites: [] };
  const flag = { ...bare, variants: [{ name: "one", value: true }] };
  assert.deepEqual(readFlag(inputOf(flag)), flag);
});

test("values are read by the type of the flag; one of another type names its field", () => {
  const typed = (type: string, value: string) =>
    readFlag({ ...inputOf(whole), type, variants: [{ name: "one", value }] }).variants[0]?.value;
  assert.deepEqual([typed("integer", " 7 "), typed("float", "0.5"), typed("boolean", "false")], [7, 0.5, false]);
  assert.equal(typed("string", " 7 "), " 7 ", "a text is kept as it is");
  assert.throws(() => typed("integer", "seven"), { message: "Variant one: “seven” is not a number." });
  assert.throws(() => typed("integer", ""), { message: "Variant one: “” is not a number." });
  assert.throws(() => typed("boolean", "yes"), { message: "Variant one: choose true or false." });
  assert.throws(() => typed("object", "{"), /^Error: Variant one: this is not JSON\./);
});

test("a rule has exactly the conditions that were typed", () => {
  const read = (more: object) =>
    readFlag({ ...inputOf(whole), rules: [{ ...blankRule, variant: "one", ...more }] }).rules[0];
  assert.deepEqual(read({}), { variant: "one" });
  assert.deepEqual(read({ accounts: "acc_1, acc_2\nacc_3 ", percentage: "0" }), {
    accounts: ["acc_1", "acc_2", "acc_3"],
    percentage: 0,
    variant: "one",
  });
  assert.throws(() => read({ percentage: "half" }), { message: "Rule 1, share: “half” is not a number." });
  assert.throws(() => read({ attributes: "plan" }), /^Error: Rule 1, attributes: this is not JSON\./);
  assert.throws(() => read({ ageTo: "x" }), { message: "Rule 1, age: “x” is not a number." });
});
