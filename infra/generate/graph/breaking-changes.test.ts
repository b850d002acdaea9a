import assert from "node:assert/strict";
import { test } from "node:test";
import { buildSchema } from "graphql";
import { breakingChanges } from "./breaking-changes.ts";

const today = new Date("2026-11-22");
const before = `
  type Query { a(x: Int, y: Int @deprecated(reason: "Since 2025-11-22. Use x.")): String b: String! list: [String] used: Only e: E }
  type Only { id: ID }
  enum E { ONE TWO }
  input In { a: Int }
  type Mutation { m(in: In!): Int }
`;

async function found(from: string, to: string, accepted = before): Promise<string[]> {
  assert.ok(accepted.includes(from), from);
  return breakingChanges(buildSchema(accepted), buildSchema(accepted.replace(from, to)), today);
}

const breaking: Readonly<Record<string, [string, string]>> = {
  "a field that goes": ["b: String!", ""],
  "an output field that becomes non-null": ["e: E", "e: E!"],
  "items of an output field that become non-null": ["[String]", "[String!]"],
  "an output field that becomes nullable": ["b: String!", "b: String"],
  "an argument that goes": ["x: Int, ", ""],
  "a required argument": ["x: Int", "x: Int!"],
  "a new required argument": ["x: Int", "x: Int z: Int!"],
  "an input field that becomes non-null": ["{ a: Int }", "{ a: Int! }"],
  "a new required input field": ["{ a: Int }", "{ a: Int b: Int! }"],
  "an enum value that goes": ["ONE TWO", "ONE"],
  "a type that goes with a field": ["used: Only", ""],
};

for (const [what, [from, to]] of Object.entries(breaking))
  test(`${what} is breaking`, async () => {
    assert.notDeepEqual(await found(from, to), []);
  });

test("additions, or removals a year after deprecation, break no client", async () => {
  assert.deepEqual(await found("b: String!", "b: String! c(first: Int): E!"), []);
  assert.deepEqual(await found("{ a: Int }", "{ a: Int b: Int }"), []);
  assert.deepEqual(await found(', y: Int @deprecated(reason: "Since 2025-11-22. Use x.")', ""), []);
});

test("a deprecation counts for twelve months, also for a type removed with its field", async () => {
  const deprecated = (day: string) =>
    before.replace("used: Only", `used: Only @deprecated(reason: "Since ${day}. Use b.")`);
  const gone = async (day: string) => {
    const after = before.replace("used: Only", "").replace("type Only { id: ID }", "");
    return breakingChanges(buildSchema(deprecated(day)), buildSchema(after), today);
  };
  assert.deepEqual(await gone("2025-11-22"), []);
  assert.equal((await gone("2025-11-23")).length, 2);
});

test("a deprecation without a date is refused", async () => {
  const problems = await found("e: E", 'e: E @deprecated(reason: "Use b.")');
  assert.match(problems.join(), /'Query\.e' does not start with its date/);
});
