import assert from "node:assert/strict";
import test from "node:test";
import { z } from "zod";
import { eventJsonSchema } from "../documents/json-schema.ts";
import { defineEvent } from "../topics/define-event.ts";
import { reviewSchemas } from "./accepted-schemas.ts";
import { compareSchemas } from "./compare-schemas.ts";

const shape = {
  id: z.string(),
  size: z.int().min(0),
  note: z.string().nullable(),
  hint: z.string().optional(),
  status: z.enum(["ready", "failed"]),
  point: z.object({ x: z.number(), y: z.number() }),
  tags: z.array(z.string()),
  links: z.record(z.string(), z.string()),
};

const schemaOf = (members: z.ZodRawShape, description = "Something happened.") =>
  eventJsonSchema(
    defineEvent({
      name: "thing.happened",
      version: 1,
      topic: "signalbox.image.v1",
      subject: "thing id",
      audience: "account",
      description,
      data: z.object(members),
      example: {},
    }),
  );

const without = (name: keyof typeof shape) => {
  const { [name]: _gone, ...rest } = shape;
  return rest;
};

const problems = (members: z.ZodRawShape) =>
  compareSchemas(schemaOf(shape), schemaOf(members)).map(({ path, problem }) => `${path}: ${problem}`);

const breaking: Readonly<Record<string, [z.ZodRawShape, RegExp]>> = {
  "a removed member": [without("note"), /^note: was removed/],
  "a removed optional member": [without("hint"), /^hint: was removed/],
  "a removed nested member": [{ ...shape, point: z.object({ x: z.number() }) }, /^point\.y: was removed/],
  "another type": [{ ...shape, id: z.number() }, /^id: type changed from "string" to "number"/],
  "another type of items": [{ ...shape, tags: z.array(z.number()) }, /^tags\.\[\]: type changed/],
  "another type of values": [{ ...shape, links: z.record(z.string(), z.number()) }, /^links\.\*: type changed/],
  "a list instead of a value": [{ ...shape, id: z.array(z.string()) }, /^id: type changed/],
  "null where there was none": [{ ...shape, id: z.string().nullable() }, /^id: .*changed/],
  "no null where there was one": [{ ...shape, note: z.string() }, /^note: .*changed/],
  "a required member made optional": [{ ...shape, id: z.string().optional() }, /^id: became optional/],
  "an optional member made required": [{ ...shape, hint: z.string() }, /^hint: became required/],
  "a new required member": [{ ...shape, extra: z.string() }, /^extra: is new and required/],
  "an enum that lost a value": [{ ...shape, status: z.enum(["ready"]) }, /^status: the enum no longer allows "failed"/],
  "an enum that gained a value": [
    { ...shape, status: z.enum(["ready", "failed", "queued"]) },
    /^status: the enum now allows "queued"/,
  ],
  "an enum opened to any text": [{ ...shape, status: z.string() }, /^status: an enum was added or removed/],
  "another limit": [{ ...shape, size: z.int().min(1) }, /^size: minimum changed from 0 to 1/],
  "a new format": [{ ...shape, id: z.uuid() }, /^id: (format|pattern) changed/],
};

for (const [change, [members, message]] of Object.entries(breaking)) {
  test(`${change} is refused with the name of the member`, () => {
    const found = problems(members);
    assert.ok(found.length > 0);
    assert.match(found[0] ?? "", message);
  });
}

test("a new optional member is fine", () => {
  assert.deepEqual(problems({ ...shape, extra: z.string().optional(), more: z.object({ a: z.int() }).optional() }), []);
});

test("another explanation is fine", () => {
  const explained = schemaOf(
    { ...shape, id: z.string().describe("The thing.") },
    "Something else was written about it.",
  );
  assert.deepEqual(compareSchemas(schemaOf(shape), explained), []);
});

test("no event breaks a reader of its accepted schema, which is up to date", async () => {
  assert.deepEqual(await reviewSchemas(), { problems: [], stale: [] }, "run: npm run accept");
});
