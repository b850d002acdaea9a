import assert from "node:assert/strict";
import { test } from "node:test";
import { hours } from "@signalbox/core";
import fc from "fast-check";
import { type FailingWindow, judgeHealth } from "../outcomes/endpoint-health.ts";
import { EndpointCache } from "../sending/endpoint-cache.ts";
import { compileFilter, type FilterProblem, textSearch } from "./event-filter.ts";
import { impossiblePart } from "./event-filter-faults.ts";

const data = {
  order: { total: 120, currency: "EUR", paid: true, note: null, lines: [{ sku: "a-1" }], tags: ["new", "big"] },
  created_at: "2026-05-01T00:00:00.000Z",
  "com.example/total": 7,
  "net.lists": [[{ n: 1 }], [{ n: 2 }, { n: 3 }], []],
  "*": "star",
  "back\\slash": true,
};

const cases: [filter: object, holds: boolean][] = [
  [{ "order.total": { eq: 120 } }, true],
  [{ "order.total": { eq: "120" } }, false],
  [{ "order.total": { ne: 120 } }, false],
  [{ "order.absent": { ne: 120 } }, true],
  [{ "order.absent": { eq: null } }, false],
  [{ "order.note": { eq: null } }, true],
  [{ "order.total": { gt: 100, lt: 200 } }, true],
  [{ "order.total": { gte: 120, lte: 120 } }, true],
  [{ "order.total": { gt: 120 } }, false],
  [{ "order.total": { gt: "1" } }, false],
  [{ created_at: { gte: "2026-04-01" } }, true],
  [{ "order.currency": { in: ["USD", "EUR"] } }, true],
  [{ "order.currency": { in: [1, null] } }, false],
  [{ "order.note": { exists: true } }, true],
  [{ "order.absent": { exists: false } }, true],
  [{ "order.currency": { prefix: "EU" } }, true],
  [{ "order.total": { prefix: "1" } }, false],
  [{ "order.currency": { contains: "U" } }, true],
  [{ "order.tags": { contains: "big" } }, true],
  [{ "order.tags": { contains: "bi" } }, false],
  [{ "order.lines.0.sku": { eq: "a-1" } }, true],
  [{ "order.constructor": { exists: true } }, false],
  [{ "order.paid": { eq: true }, "order.total": { lt: 1 } }, false],
  [{ any: [{ "order.total": { lt: 1 } }, { "order.paid": { eq: true } }] }, true],
  [{ not: { "order.paid": { eq: true } } }, false],
  [{ "order.lines.*.sku": { eq: "a-1" } }, true],
  [{ "order.lines.*.sku": { eq: "a-2" } }, false],
  [{ "order.tags.*": { prefix: "bi" } }, true],
  [{ "order.none.*.sku": { exists: false } }, true],
  [{ not: { "order.lines.*.sku": { eq: "a-1" } } }, false],
  [{ "*.total": { eq: 1 } }, false],
  [{ "com\\.example/total": { eq: 7 } }, true],
  [{ "com.example/total": { eq: 7 } }, false],
  [{ "net\\.lists.*.*.n": { gt: 1, lt: 3 } }, true],
  [{ "net\\.lists.*.*.n": { gt: 1, lt: 2 } }, false],
  [{ "\\*": { eq: "star" } }, true],
  [{ "back\\\\slash": { eq: true } }, true],
  [{ not: { any: [{ "order.paid": { eq: false } }, { "order.total": { lt: 1 } }] } }, true],
];

for (const [filter, holds] of cases) {
  test(`${JSON.stringify(filter)} ${holds ? "takes" : "leaves"} the event`, () => {
    const compiled = compileFilter(filter as never);
    assert.ok(typeof compiled === "function");
    assert.equal(compiled(data), holds);
    assert.equal(compiled("no object"), compiled({}));
  });
}

const placeOf = (problem: FilterProblem | null) => problem?.path.map((step) => `.${step}`).join("") ?? null;

test("a filter that cannot be used names the place of the fault", () => {
  const problemOf = (filter: object) => {
    const compiled = compileFilter(filter as never);
    return typeof compiled === "function" ? null : placeOf(compiled);
  };
  assert.equal(problemOf({}), "");
  assert.equal(problemOf({ a: 1 }), ".a");
  assert.equal(problemOf({ a: {} }), ".a");
  assert.equal(problemOf({ a: { like: 1 } }), ".a.like");
  assert.equal(problemOf({ a: { constructor: 1 } }), ".a.constructor");
  assert.equal(problemOf({ a: { in: [] } }), ".a.in");
  assert.equal(problemOf({ a: { gt: true } }), ".a.gt");
  assert.equal(problemOf({ any: [] }), ".any");
  assert.equal(problemOf({ any: [{ a: { eq: {} } }] }), ".any.0.a.eq");
  assert.equal(problemOf({ not: { not: {} } }), ".not.not");
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, { eq: 1 }]));
  assert.equal(problemOf(many(32)), null);
  assert.equal(problemOf(many(33)), "");
  assert.equal(problemOf({ a: { eq: "x".repeat(4_096) } }), "");
});

test("what no event can match is found with its place", () => {
  for (const [filter, path] of [
    [{ "items[0].sku": { eq: 1 } }, ".items[0].sku"],
    [{ "items[].sku": { eq: 1 } }, ".items[].sku"],
    [{ "a..b": { eq: 1 } }, ".a..b"],
    [{ ".a": { eq: 1 } }, "..a"],
    [{ b: { eq: 1 }, a: { gt: 5, lt: 3 } }, ".a"],
    [{ a: { gt: 5, lte: 5 } }, ".a"],
    [{ a: { gte: "b", lt: "a" } }, ".a"],
    [{ a: { gt: 5, lt: "6" } }, ".a"],
    [{ a: { eq: 1, ne: 1 } }, ".a"],
    [{ a: { eq: 1, gt: 1 } }, ".a"],
    [{ a: { in: [1, 2], gt: 2 } }, ".a"],
    [{ a: { exists: false, eq: 1 } }, ".a"],
    [{ a: { prefix: "x", gt: 1 } }, ".a"],
    [{ a: { contains: 1, prefix: "x" } }, ".a"],
    [{ any: [{ a: { eq: 1 } }, { a: { eq: 1, ne: 1 } }] }, ".any.1.a"],
    [{ a: { eq: 1 }, b: { gt: 2 }, not: { a: { eq: 1 } } }, ".not"],
    [{ "a.b": { eq: 1 }, a: { prefix: "x" } }, ".a.b"],
  ] as const) {
    assert.equal(placeOf(impossiblePart(filter)), path, JSON.stringify(filter));
  }
});

test("a filter that some event can match has no fault", () => {
  const values = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom("a", "ab", "b", true, null));
  const comparable = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom("a", "ab", "b"));
  const conditions = fc.record(
    {
      eq: values,
      ne: values,
      gt: comparable,
      gte: comparable,
      lt: comparable,
      lte: comparable,
      in: fc.array(values, { minLength: 1, maxLength: 3 }),
      exists: fc.boolean(),
      prefix: fc.constantFrom("a", "b"),
      contains: values,
    },
    { requiredKeys: [] },
  );
  const datum = fc.oneof(values, fc.array(values, { maxLength: 2 }), fc.constant(undefined));
  fc.assert(
    fc.property(conditions, datum, (given, a) => {
      if (Object.keys(given).length === 0) return;
      const test = compileFilter({ a: given });
      if (typeof test === "function" && test(a === undefined ? {} : { a })) {
        assert.equal(impossiblePart({ a: given }), null);
      }
    }),
    { numRuns: 5_000 },
  );
});

test("a long text is found where the engine finds it, and no character is read twice", () => {
  const letters = (min: number, max: number) =>
    fc.string({ unit: fc.constantFrom("a", "b"), minLength: min, maxLength: max });
  fc.assert(
    fc.property(letters(1, 4), letters(1, 4), letters(0, 4), (part, other, end) => {
      const text = `${other}${part.repeat(300)}${other}${part.repeat(300)}`;
      for (const wanted of [`${part.repeat(280)}${end}`, `${part.repeat(260)}${other}${part.repeat(40)}${end}`]) {
        assert.equal(textSearch(wanted)(text), text.includes(wanted), `${wanted} in ${text}`);
      }
    }),
  );
  let reads = 0;
  function charCodeAt(): number {
    reads++;
    return "a".charCodeAt(0);
  }
  const text = { length: 10_000, charCodeAt } as unknown as string;
  assert.equal(textSearch(`${"a".repeat(1_000)}b${"a".repeat(1_000)}`)(text), false);
  assert.equal(reads, text.length);
});

const ofOperators = () => Promise.reject(new Error("not expected to be called"));
const endpointsOf = (accountId: string) => ({ accountId, fingerprint: "1", endpoints: [] });

test("an account that is forgotten during a look-up of others is still returned", async () => {
  const asked: string[][] = [];
  const lookUp = Promise.withResolvers<void>();
  const directory = new EndpointCache(
    {
      ofAccounts: async (accountIds) => {
        asked.push([...accountIds]);
        if (accountIds.includes("b")) await lookUp.promise;
        return accountIds.map(endpointsOf);
      },
      ofOperators,
    },
    10,
  );
  await directory.ofAccounts(["a"]);
  const both = directory.ofAccounts(["a", "b"]);
  directory.forget(["a"]);
  lookUp.resolve();
  assert.deepEqual((await both).map(({ accountId }) => accountId).sort(), ["a", "b"]);
  assert.deepEqual(asked, [["a"], ["b"]]);
});

test("more accounts than fit into memory are returned too", async () => {
  const directory = new EndpointCache(
    { ofAccounts: async (accountIds) => accountIds.map(endpointsOf), ofOperators },
    1,
  );
  assert.equal((await directory.ofAccounts(["a", "b", "c"])).length, 3);
});

const limits = {
  failingAfterMs: hours(4),
  failuresMin: 10,
  disableAfterMs: hours(120),
  disableFailuresMin: 20,
  failedShare: 0.95,
};
const nowMs = Date.parse("2026-01-10T00:00:00.000Z");

const windows: [what: string, forHours: number, rest: Partial<FailingWindow>, expected: string | null][] = [
  ["many failures in a short time", 3.9, { failures: 1_000 }, null],
  ["few failures in a long time", 300, { failures: 9 }, null],
  ["four hours and ten failures", 4, { failures: 10 }, "notify"],
  ["the same, with the owner already notified", 4, { failures: 10, notified: true }, null],
  ["five days and nineteen failures", 120, { failures: 19, notified: true }, null],
  ["five days and twenty failures", 120, { failures: 20, notified: true }, "disable"],
  ["five days without a notification", 120, { failures: 20 }, "disable"],
  ["one success in twenty", 120, { failures: 19, successes: 1 }, "notify"],
  ["more than one success in twenty", 120, { failures: 100, successes: 6 }, null],
];

for (const [what, forHours, rest, expected] of windows) {
  test(`${what}: ${expected ?? "nothing"}`, () => {
    const failingSince = new Date(nowMs - hours(forHours));
    const window = { failingSince, failures: 0, successes: 0, notified: false, ...rest };
    assert.equal(judgeHealth(window, nowMs, limits), expected);
  });
}
