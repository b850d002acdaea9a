import assert from "node:assert/strict";
import { test } from "node:test";
import { isAppError, systemClock } from "@signalbox/core";
import { createRateLimiters } from "@signalbox/storage";
import { testPerson } from "@signalbox/testing";
import { buildSchema, type GraphQLError } from "graphql";
import { testOperations } from "../../test/test-operations.ts";
import { createCostLimits } from "./cost-limits.ts";
import { scanDocument } from "./document-scan.ts";

const schema = buildSchema(
  "type Query { a: Int items(first: Int): Page } type Page { edges: [Edge!]! } type Edge { a: Int } type Subscription { a: Int }",
);
const { signal } = new AbortController();
const nothingElse = { variables: undefined, operationName: undefined, documentId: null, resumeAfter: null };

/** Operations of one instance: a credential may spend 100 in its window, an address 100 as well. */
function setUp({ costMax = 50 as number | null, objects = 1 } = {}) {
  let checks = 0;
  const limiters = createRateLimiters(systemClock);
  const supergraph = {
    get schema() {
      checks++;
      return schema;
    },
    execute: async () => ({ data: "{}", objects, errors: [] }),
    close: async () => {},
  };
  const costLimits = createCostLimits({
    limiterOf: (policy) => limiters(policy, { takeShares: async () => null }),
    windows: { credential: 100, anonymous: 100 },
    costMax: () => costMax,
    pageSize: () => 20,
  });
  const { operations } = testOperations({
    supergraph,
    costLimits,
    anonymousTokensMax: 30,
    limits: () => ({ rootFieldsMax: 200 }),
  });
  const { principal } = testPerson();
  const callerOf = (isAnonymous: boolean) => ({
    principal: isAnonymous ? null : principal,
    clientAddress: "192.0.2.7",
  });
  async function outcomeOf(query: string, isAnonymous = false): Promise<string> {
    const asking = { ...callerOf(isAnonymous), signal, requestId: "r-1", idempotencyKey: null };
    try {
      const request = { ...nothingElse, query };
      const { errors } = await operations.execute(request, asking, "queries and mutations");
      return String(errors[0]?.extensions?.code ?? "ok");
    } catch (error) {
      if (!isAppError(error)) throw error;
      return error.code;
    }
  }
  return { operations, outcomeOf, callerOf, checks: () => checks };
}

const tokens = (count: number, field: string) => `{ ${`${field} `.repeat(count - 2)}}`;

test("a refused document is charged with its tokens to the limit of executed operations", async () => {
  for (const [refused, code] of [
    [tokens(60, "nothing"), "VALIDATION_FAILED"],
    [`${tokens(60, "a")} }`, "VALIDATION_FAILED"],
    [`{ ${"b: a ".repeat(31)} }`, "LIMIT_ALIASES"],
    [`${tokens(60, "a")} query B { a }`, "VALIDATION_FAILED"],
    [`{ items(first: 90) { edges { a } } ${"a ".repeat(50)} }`, "LIMIT_COST"],
  ] as const) {
    const { outcomeOf, checks } = setUp();
    assert.deepEqual([await outcomeOf(refused), await outcomeOf(refused)], [code, code], refused);
    const before = checks();
    assert.equal(await outcomeOf("{ a }"), "rate_limited", refused);
    assert.equal(checks(), before, "nothing is checked for a caller whose window is used up");
    assert.equal(await outcomeOf("{ a }", true), "ok", "another caller has a window of its own");
  }
});

test("every look at a refused document is charged or limited, subscriptions included", () => {
  const { operations, callerOf } = setUp();
  const request = { ...nothingElse, query: `subscription ${tokens(90, "nothing")}` };
  assert.ok("refusal" in operations.find(request, "everything", callerOf(false)));
  assert.ok("refusal" in operations.prepare(request, "everything", callerOf(false)));
  assert.ok("refusal" in operations.prepare(request, "everything", callerOf(false)));
  for (const ask of [operations.find, operations.prepare])
    assert.throws(() => ask(request, "everything", callerOf(false)), /cost too much in total/);
});

test("what an answer has above its estimate is charged before the next operation", async () => {
  const { outcomeOf } = setUp({ objects: 1_000 });
  assert.equal(await outcomeOf("{ a }"), "ok");
  assert.equal(await outcomeOf("{ a }"), "rate_limited");
  assert.equal(await outcomeOf("{ a }", true), "ok", "another caller has a window of its own");
});

test("a small fault costs little", async () => {
  const { outcomeOf } = setUp();
  for (let count = 0; count < 20; count++) assert.equal(await outcomeOf("{ b }"), "VALIDATION_FAILED");
  assert.equal(await outcomeOf("{ a }"), "ok");
});

test("a caller without a credential sends smaller documents, checked before for others or not", async () => {
  const { outcomeOf } = setUp();
  assert.equal(await outcomeOf(tokens(31, "a")), "ok");
  assert.equal(await outcomeOf(tokens(31, "a"), true), "LIMIT_TOKENS");
  assert.equal(await outcomeOf(tokens(30, "a"), true), "ok");
});

test("where costs are only measured, refusals cost nothing", async () => {
  const { outcomeOf } = setUp({ costMax: null });
  for (let count = 0; count < 3; count++) assert.equal(await outcomeOf(tokens(60, "b")), "VALIDATION_FAILED");
  assert.equal(await outcomeOf("{ a }"), "ok");
});

function codeOf(query: string, tokensMax = 100_000): unknown {
  try {
    scanDocument(query, tokensMax);
    return null;
  } catch (error) {
    return (error as GraphQLError).extensions.code;
  }
}

const lists = (depth: number) => `${"[".repeat(depth)}1${"]".repeat(depth)}`;
const objects = (depth: number) => `${"{a:".repeat(depth)}1${"}".repeat(depth)}`;

test("values may nest 64 objects or 8 lists, no deeper", () => {
  for (const [nested, max] of [
    [lists, 8],
    [objects, 64],
  ] as const) {
    for (const document of [
      (value: string) => `{ a(x: ${value}) }`,
      (value: string) => `query($x: JSON = ${value}) { a(x: $x) }`,
      (value: string) => `{ a @skip(if: ${value}) }`,
      (value: string) => `query($x: JSON @d(x: ${value})) { a(x: $x) }`,
    ]) {
      assert.equal(codeOf(document(nested(max))), null);
      assert.equal(codeOf(document(nested(max + 1))), "LIMIT_DEPTH");
    }
  }
  assert.equal(codeOf(`{ a(x: ${"[{a:".repeat(9)}1${"}]".repeat(9)}) }`), "LIMIT_DEPTH");
  assert.equal(codeOf(`query($x: ${lists(1_900).replace("1", "Int")}) { a(x: $x) }`), "LIMIT_DEPTH");
});

test("depths of neighbours do not add up", () => {
  assert.equal(codeOf(`{ ${Array.from({ length: 50 }, (_, at) => `a${at}(x: ${objects(60)})`).join(" ")} }`), null);
});

test("brackets in strings do not count", () => {
  assert.equal(codeOf(`{ a(x: "${"[".repeat(500)}") }`), null);
});

test("endless selections are refused before they are parsed", () => {
  assert.equal(codeOf(`${"{ a ".repeat(20_000)}${"}".repeat(20_000)}`), "LIMIT_DEPTH");
});

test("a number that cannot be represented exactly is refused", () => {
  for (const number of ["1e999", "-1e999", "9007199254740993"]) {
    assert.equal(codeOf(`{ a(x: ${number}) }`), "VALIDATION_FAILED", number);
  }
  for (const number of ["9007199254740991", "-1", "0.1", "1e308"]) assert.equal(codeOf(`{ a(x: ${number}) }`), null);
});

test("a name has at most 4,096 characters, unlike a text", () => {
  const long = "x".repeat(4_097);
  assert.equal(codeOf(`{ ${"x".repeat(4_096)} a(x: "${long}") } #${long}`), null);
  for (const query of [`{ ${long} }`, `{ ${long}: a }`, `{ a(${long}: 1) }`, `query ${long} { a }`, `{ ...${long} }`])
    assert.equal(codeOf(query), "VALIDATION_FAILED");
});
