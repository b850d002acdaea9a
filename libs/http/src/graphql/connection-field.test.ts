import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { AccessRecord, AccessStates } from "@signalbox/auth";
import { serviceWith } from "@signalbox/testing";
import { buildSchema, type DocumentNode, parse } from "graphql";
import { takeAccessChanges, withAccessChanges } from "./access-changes.ts";
import { connectionField } from "./connection-field.ts";
import { bytesOf, type CheckedDocument, createDocumentCache, validateDocument } from "./document-cache.ts";
import type { SubgraphContext } from "./subgraph-context.ts";

const caller = {
  accountId: "acc_own",
  state: "active",
  scopes: new Set(["images:read"]),
  credential: { kind: "token" },
};
const contextOf = () => ({ principal: caller, caller }) as unknown as SubgraphContext;
const rows = Array.from({ length: 9 }, (_, at) => ({ id: `row_${at}`, createdAt: new Date(at) }));

function setUp(limits = { maxPageSize: () => 3, pageSize: () => 5 }) {
  const reads: number[] = [];
  const list = connectionField(
    { scopes: ["images:read"], ownOnly: true },
    {
      limits,
      async read({ limit }) {
        reads.push(limit);
        return rows.slice(0, limit);
      },
    },
  );
  return { list, reads };
}

type Page = { edges: unknown[] };

test("a page without first has the default length, or the maximum if that is smaller", async () => {
  const { list } = setUp();
  assert.equal(((await list({ id: "acc_own" }, {}, contextOf())) as Page).edges.length, 3);
  const wide = setUp({ maxPageSize: () => 100, pageSize: () => 5 });
  assert.equal(((await wide.list({ id: "acc_own" }, {}, contextOf())) as Page).edges.length, 5);
});

test("the same page of the same parent is read once per request", async () => {
  const { list, reads } = setUp();
  const context = contextOf();
  await Promise.all(Array.from({ length: 100 }, () => list({ id: "acc_own" }, { first: 2 }, context)));
  assert.deepEqual(reads, [3]);
  await list({ id: "acc_own" }, { first: 1 }, context);
  await list({ id: "acc_own" }, { first: 2 }, contextOf());
  assert.deepEqual(reads, [3, 2, 3]);
});

test("one read gives each of a hundred parents its own page", async () => {
  const reads: (readonly string[])[] = [];
  const list = connectionField<{ id: string }, object, { id: string; parent: string; createdAt: Date }>(
    { scopes: ["images:read"] },
    {
      limits: { maxPageSize: () => 3, pageSize: () => 1 },
      async readMany({ limit }, parents) {
        reads.push(parents);
        return parents.flatMap((parent) => rows.slice(0, limit).map((row) => ({ ...row, parent })));
      },
      parentId: ({ parent }) => parent,
    },
  );
  const context = contextOf();
  const parents = Array.from({ length: 100 }, (_, at) => `parent_${at}`);
  const pages = await Promise.all(parents.map((id) => list({ id }, { first: 2 }, context)));
  assert.deepEqual(reads, [parents]);
  for (const [at, page] of (pages as { edges: { node: { parent: string } }[] }[]).entries())
    assert.deepEqual(
      page.edges.map(({ node }) => node.parent),
      [`parent_${at}`, `parent_${at}`],
    );
  await Promise.all([1, 2].map((first) => list({ id: "parent_1" }, { first }, contextOf())));
  assert.deepEqual(reads.slice(1), [["parent_1"], ["parent_1"]]);
});

test("a list of another account is forbidden", async () => {
  const { list, reads } = setUp();
  await assert.rejects(async () => list({ id: "acc_other" }, {}, contextOf()), { code: "forbidden" });
  assert.deepEqual(reads, []);
});

const revoked: AccessRecord = { kind: "credential", id: "key_1", accountId: "acc_1", epoch: 2, revoked: true };

/** Creates access states whose listeners receive every applied change. */
function given() {
  const applied: AccessRecord[] = [];
  const listeners = new Set<(change: AccessRecord) => void>();
  return {
    applied,
    accessStates: serviceWith<AccessStates>({
      apply(change: AccessRecord) {
        applied.push(change);
        for (const listener of listeners) listener(change);
      },
      onChange(listener: (change: AccessRecord) => void) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    }),
  };
}

/** The result as the gateway receives it. */
const sent = <T>(result: T): T => JSON.parse(JSON.stringify(result));

test("a revocation is applied where the result arrives, left out of the answer to the client", async () => {
  const [account, gateway] = [given(), given()];
  const result = await withAccessChanges(account.accessStates, async () => {
    account.accessStates.apply(revoked);
    return { data: { revokeApiKey: { errors: [] } }, extensions: { cost: 1 } };
  });
  const taken = takeAccessChanges(sent(result), gateway.accessStates);
  assert.deepEqual(gateway.applied, [revoked]);
  assert.deepEqual(taken, { data: { revokeApiKey: { errors: [] } }, extensions: { cost: 1 } });
});

test("a result without changes passes unchanged, its listener removed", async () => {
  const { accessStates, applied } = given();
  const result = await withAccessChanges(accessStates, async () => ({ data: {} }));
  accessStates.apply(revoked);
  assert.deepEqual(takeAccessChanges(result, accessStates), { data: {} });
  assert.deepEqual(applied, [revoked]);
});

test("changes of another version are left to the state topic", () => {
  const { accessStates, applied } = given();
  takeAccessChanges({ extensions: { accessChanges: [{ kind: "planet" }] } }, accessStates);
  takeAccessChanges({ extensions: { accessChanges: "all" } }, accessStates);
  assert.deepEqual(applied, []);
});

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const parsed = (query: string): DocumentNode => parse(query, { noLocation: true });
const repeat = (count: number, of: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => of(at)).join(" ");

function setUpCache(bytesMax: number) {
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

test("a document is checked once until it is the least recently used", () => {
  const entryBytes = bytesOf(parsed("{ a }"), "{ a }");
  const { ask, checked } = setUpCache(entryBytes * 16);
  const others = Array.from({ length: 15 }, (_, at) => `{ ${"bcdefghijklmnopq"[at]} }`);
  for (const query of ["{ a }", ...others, "{ a }", "{ z }", "{ a }", "{ b }"]) ask(query);
  assert.deepEqual(checked, ["{ a }", ...others, "{ z }", "{ b }"]);
});

test("a changed limit also applies to documents that were checked before", () => {
  const { ask, limits } = setUpCache(100_000);
  assert.deepEqual(ask("a"), { refusal: [{ message: "a under 4" }] });
  limits.depthMax = 2;
  assert.deepEqual(ask("a"), { refusal: [{ message: "a under 2" }] });
  assert.deepEqual(ask("a"), ask("a"));
});

test("a document that would fill the cache is not remembered", () => {
  const { ask, checked } = setUpCache(100_000);
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

test("a refusal locates the fault without keeping anything of the document", () => {
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
