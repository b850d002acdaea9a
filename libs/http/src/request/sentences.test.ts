import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { bodyRefusal, judge } from "./body-problems.ts";

const schema = z.strictObject({
  name: z.string().min(1).max(3),
  id: z.string().regex(/^[a-z]+$/),
  tags: z.array(z.string()).max(2).optional(),
  size: z.int().min(1).max(9).optional(),
  ratio: z.number().gt(0).multipleOf(0.5).optional(),
  kind: z.enum(["a", "b"]).optional(),
  version: z.literal(1).optional(),
  at: z.iso.datetime().optional(),
  url: z.url().optional(),
  mail: z.email().optional(),
  uuid: z.uuid().optional(),
  either: z.union([z.string(), z.array(z.string())]).optional(),
  rows: z.record(z.string(), z.boolean()).optional(),
  rule: z
    .string()
    .refine(() => false)
    .optional(),
  labelled: z.string().min(9, "A label has nine characters.").optional(),
  inner: z.strictObject({ on: z.boolean() }).optional(),
});
const good = { name: "a", id: "a" };

function sentence(changes: object): string {
  const judged = judge(schema, { ...good, ...changes });
  assert.ok(!judged.success, JSON.stringify(changes));
  assert.equal(judged.details.length, 1, JSON.stringify(judged.details));
  return judged.details.map(({ field, code, message }) => `${field} ${code}: ${message}`).join();
}

test("every kind of fault has a sentence of ours", () => {
  const cases: readonly (readonly [object, string])[] = [
    [{ name: 7 }, "name invalid_type: Must be a text."],
    [{ name: null }, "name invalid_type: Must be a text."],
    [{ name: "" }, "name too_small: Must not be empty."],
    [{ name: "long" }, "name too_big: Must have at most 3 characters."],
    [{ id: "7" }, "id invalid_format: Must match /^[a-z]+$/."],
    [{ tags: ["a", "b", "c"] }, "tags too_big: Must have at most 2 items."],
    [{ tags: ["a", 1] }, "tags[1] invalid_type: Must be a text."],
    [{ tags: "a" }, "tags invalid_type: Must be a list."],
    [{ size: 0 }, "size too_small: Must be at least 1."],
    [{ size: 10 }, "size too_big: Must be at most 9."],
    [{ size: 1.5 }, "size invalid_type: Must be a whole number."],
    [{ ratio: 0 }, "ratio too_small: Must be more than 0."],
    [{ ratio: 0.7 }, "ratio invalid: Must be a multiple of 0.5."],
    [{ kind: "c" }, "kind invalid_value: Must be one of a, b."],
    [{ version: 2 }, "version invalid_value: Must be 1."],
    [{ at: "yesterday" }, "at invalid_format: Must be a time in RFC 3339, such as 2026-01-31T12:00:00Z."],
    [{ url: "here" }, "url invalid_format: Must be an absolute URL."],
    [{ mail: "me" }, "mail invalid_format: Must be an e-mail address."],
    [{ uuid: "me" }, "uuid invalid_format: Must be a UUID."],
    [{ either: 1 }, "either invalid: Must have one of the documented forms."],
    [{ rows: { a: "x" } }, "rows.a invalid_type: Must be true or false."],
    [{ rule: "x" }, "rule invalid: Is not valid."],
    [{ labelled: "x" }, "labelled too_small: A label has nine characters."],
    [{ inner: {} }, "inner.on required: Is required."],
    [{ inner: { on: true, off: true } }, "inner.off unknown_member: Is not a member of this resource."],
    [{ nmae: "x" }, "nmae unknown_member: Is not a member of this resource."],
  ];
  for (const [changes, expected] of cases) assert.equal(sentence(changes), expected);
});

test("a field with several faults is named once, with the first of them", () => {
  const rules = z.strictObject({ name: z.string().min(5).regex(/^b/).endsWith("c"), other: z.string() });
  const judged = judge(rules, { name: "a" });
  assert.deepEqual(judged.success || judged.details, [
    { field: "name", code: "too_small", message: "Must have at least 5 characters." },
    { field: "other", code: "required", message: "Is required." },
  ]);
});

test("the missing member of a malformed POST is named first", () => {
  const judged = judge(schema, { name: 7 });
  assert.ok(!judged.success);
  const { code, field, details } = bodyRefusal("POST", judged.details);
  assert.deepEqual([code, field, details.map((detail) => detail.field)], ["invalid_request", "id", ["id", "name"]]);
  assert.equal(bodyRefusal("PUT", judged.details).field, "name");
});
