import assert from "node:assert/strict";
import { test } from "node:test";
import { connectionField } from "./connection-field.ts";
import type { SubgraphContext } from "./subgraph-context.ts";

const caller = { accountId: "acc_own", state: "active", scopes: new Set(["images:read"]) };
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

test("equal pages of a hundred parents take one read, and each parent gets its own rows", async () => {
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
