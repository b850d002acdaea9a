import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { buildSchema, type DocumentNode, parse } from "graphql";
import { bytesOf, type CheckedDocument, createDocumentCache, validateDocument } from "./document-cache.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const parsed = (query: string): DocumentNode => parse(query, { noLocation: true });
const repeat = (count: number, of: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => of(at)).join(" ");

function setUp(bytesMax: number) {
  const checked: string[] = [];
  const limits = { depthMax: 4 };
  const ask = createDocumentCache({
    bytesMax,
    limits: () => limits,
    check(query, { depthMax }): CheckedDocument {
      checked.push(query);
      return query.startsWith("{")
        ? { document: parsed(query) }
        : { refusal: [{ message: `${query} under ${depthMax}` }] };
    },
  });
  return { ask, checked, limits };
}

test("a document is checked once while it is in use, and the least recently used one is dropped", () => {
  const entryBytes = bytesOf(parsed("{ a }"), "{ a }");
  const { ask, checked } = setUp(entryBytes * 16);
  const others = Array.from({ length: 15 }, (_, at) => `{ ${"bcdefghijklmnopq"[at]} }`);
  for (const query of ["{ a }", ...others, "{ a }", "{ z }", "{ a }", "{ b }"]) ask(query);
  assert.deepEqual(checked, ["{ a }", ...others, "{ z }", "{ b }"]);
});

test("a changed limit also applies to documents that were checked before", () => {
  const { ask, limits } = setUp(100_000);
  assert.deepEqual(ask("a"), { refusal: [{ message: "a under 4" }] });
  limits.depthMax = 2;
  assert.deepEqual(ask("a"), { refusal: [{ message: "a under 2" }] });
  assert.deepEqual(ask("a"), ask("a"));
});

test("a document that would fill the cache is not remembered", () => {
  const { ask, checked } = setUp(100_000);
  const long = `{ ${repeat(500, (at) => `field${at}`)} }`;
  ask(long);
  ask(long);
  assert.equal(checked.length, 2);
});

test("the estimated size of an entry covers its real size, for documents of every shape", () => {
  const shapes: Record<string, (n: number) => string> = {
    flat: (n) => `{ ${repeat(1_300, (at) => `f${at}_${n}`)} }`,
    nested: (n) => `{ ${"a { ".repeat(300)} x${n} ${"} ".repeat(300)} }`,
    values: (n) => `{ ${repeat(200, () => `x(a: [1, 2, { b: "text${n}" }])`)} }`,
    directives: (n) => `{ ${repeat(200, () => "x @skip(if: false)")} y${n} }`,
    variables: (n) => `query(${repeat(200, (at) => `$v${at}: [Int!]! = 1`)}) { y${n} }`,
    text: (n) => `{ x(a: "${"y".repeat(8_000)}${n}") }`,
  };
  for (const [shape, of] of Object.entries(shapes)) {
    const kept: [DocumentNode, string][] = [];
    const before = heapBytes();
    for (let n = 0; n < 200; n++) {
      const query = Buffer.from(of(n)).toString();
      kept.push([parsed(query), query]);
    }
    const taken = heapBytes() - before;
    const estimated = kept.reduce((sum, [document, query]) => sum + bytesOf(document, query), 0);
    assert.ok(taken <= estimated && estimated <= 3.5 * taken, `${shape}: ${taken} bytes, estimated ${estimated}`);
  }
});

test("a refusal locates the fault and keeps nothing of the document", () => {
  const schema = buildSchema("type Query { a: Int }");
  const query = "{\n  b\n}";
  const found = validateDocument(schema, query, parsed(query));
  assert.ok("refusal" in found);
  const [refusal] = found.refusal;
  assert.match(refusal?.message ?? "", /^Cannot query field "b" on type "Query"\./);
  assert.deepEqual(
    [refusal?.locations, refusal?.extensions],
    [[{ line: 2, column: 3 }], { code: "VALIDATION_FAILED" }],
  );
  assert.deepEqual(Object.keys(refusal ?? {}).sort(), ["extensions", "locations", "message"]);
});

test("a document that takes too many comparisons is over the limit of cost", () => {
  const schema = buildSchema("type Query { a: Int }");
  const query = `{ ${repeat(1_500, () => "a")} }`;
  const found = validateDocument(schema, query, parsed(query));
  assert.ok("refusal" in found);
  assert.deepEqual(
    found.refusal.map(({ extensions }) => extensions),
    [{ code: "LIMIT_COST" }],
  );
});
