import assert from "node:assert/strict";
import { test } from "node:test";
import type { Caller } from "@signalbox/auth";
import type { AccountState, Scope } from "@signalbox/contracts";
import { AppError, systemClock } from "@signalbox/core";
import { z } from "zod";
import { connectionField } from "./connection-field.ts";
import { field, isDeclared } from "./field.ts";
import { createLoader } from "./loader.ts";
import { mutation, refusalError } from "./mutation.ts";
import type { SubgraphContext } from "./subgraph-context.ts";

const scopes = (...names: Scope[]) => new Set(names);

/** Creates the context of a caller, by default with `account:read`. */
function contextOf(changes: { scopes?: Set<Scope>; state?: AccountState; anonymous?: true } = {}) {
  const caller: Caller = {
    accountId: "acc_own",
    state: changes.state ?? "active",
    epoch: 1,
    scopes: changes.scopes ?? scopes("account:read"),
    roles: [],
    credential: { kind: "token", id: "jti:1", authTimeMs: null },
    expiresAt: null,
    requestId: "r-1",
    clientAddress: null,
  };
  const context = {
    principal: changes.anonymous ? null : caller,
    get caller() {
      if (changes.anonymous) throw new AppError("unauthorized", "Send credentials.");
      return caller;
    },
    clock: systemClock,
  };
  return context as unknown as SubgraphContext;
}

test("anonymous callers, missing scopes, blocked states or old sign-ins are refused before a field resolves", async () => {
  let resolved = 0;
  const secret = field({ scopes: ["account:read"], stepUp: true }, () => ++resolved);
  const plain = field({ scopes: ["account:read"] }, () => ++resolved);
  assert.throws(() => plain(null, {}, contextOf({ anonymous: true })), { code: "unauthorized" });
  assert.throws(() => plain(null, {}, contextOf({ scopes: scopes("images:read") })), { code: "forbidden" });
  assert.throws(() => plain(null, {}, contextOf({ state: "deleted" })), { code: "forbidden" });
  assert.throws(() => secret(null, {}, contextOf()), { message: "This change needs a recent sign-in." });
  assert.equal(resolved, 0);
  assert.equal(plain(null, {}, contextOf()), 1);
  assert.deepEqual([isDeclared(plain), plain.declared.scopes], [true, ["account:read"]]);
});

test("an optional field is open to anonymous callers, but not to blocked ones", () => {
  const open = field({ scopes: [], optional: true }, () => "shown");
  assert.equal(open(null, {}, contextOf({ anonymous: true })), "shown");
  assert.throws(() => open(null, {}, contextOf({ state: "deleted" })), { code: "forbidden" });
});

test("a field of another account reads as missing, unless the caller may see other accounts", () => {
  const ofOthers = { scopes: ["account:admin"], access: "read" } as const;
  const log = field({ scopes: ["account:read"], ofOthers }, () => "shown");
  const other = { id: "acc_other" };
  assert.equal(log(other, {}, contextOf()), null);
  assert.equal(log({ id: "acc_own" }, {}, contextOf()), "shown");
  assert.equal(log(other, {}, contextOf({ scopes: scopes("account:admin") })), "shown");
  assert.throws(() => log({ id: "acc_own" }, {}, contextOf({ scopes: scopes("account:admin") })), {
    code: "forbidden",
  });
});

test("a mutation judges its input like REST, with faults in the payload under the names of the input", async () => {
  const input = z.strictObject({ display_name: z.string().max(3), expires_at: z.string().nullable().default(null) });
  const rename = mutation(
    { scopes: ["account:read"], access: "read", input, payload: "account" },
    async ({ display_name: name }) => {
      if (name === "no")
        throw refusalError({
          code: "validation_error",
          message: "",
          details: [{ field: "display_name", code: "unsupported", message: "Is taken." }],
        });
      if (name === "x") throw new AppError("conflict", "The row has changed.");
      return { name };
    },
  );
  const run = (given: object) => rename(null, { input: given }, contextOf());
  assert.deepEqual(await run({ displayName: "Ada" }), { account: { name: "Ada" }, errors: [] });
  assert.deepEqual(await run({ displayName: "no" }), {
    account: null,
    errors: [{ field: "displayName", code: "unsupported", message: "Is taken." }],
  });
  const failed = (await run({ displayName: "Grace", expiresAt: 1 })) as { errors: object[] };
  assert.deepEqual(failed.errors, [
    { field: "displayName", code: "too_big", message: "Must have at most 3 characters." },
    { field: "expiresAt", code: "invalid_type", message: "Must be a string." },
  ]);
  await assert.rejects(async () => run({ displayName: "x" }), { code: "conflict" });
  await assert.rejects(async () => rename(null, { input: {} }, contextOf({ anonymous: true })), {
    code: "unauthorized",
  });
});

test("a connection knows of a next page, which its cursor continues", async () => {
  const rows = ["c", "b", "a"].map((id, index) => ({ id, createdAt: new Date(1_000_000 - index) }));
  const list = connectionField<unknown, object>(
    { scopes: ["account:read"] },
    {
      limits: { maxPageSize: () => 10, pageSize: () => 2 },
      read: async ({ after, limit }) => {
        const from = after === null ? 0 : rows.findIndex(({ id }) => id === after.id) + 1;
        return rows.slice(from, from + limit);
      },
    },
  );
  const page = (await list(null, {}, contextOf())) as Page;
  assert.deepEqual([page.edges.map(({ node }) => node.id), page.pageInfo.hasNextPage], [["c", "b"], true]);
  const next = (await list(null, { after: page.pageInfo.endCursor }, contextOf())) as Page;
  assert.deepEqual([next.edges.map(({ node }) => node.id), next.pageInfo.hasNextPage], [["a"], false]);
  await assert.rejects(async () => list(null, { first: 11 }, contextOf()), { code: "validation_error" });
});

interface Page {
  readonly edges: { readonly node: { readonly id: string } }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
}

test("concurrent look-ups are merged, malformed ids left out", async () => {
  const asked: (readonly string[])[] = [];
  const load = createLoader(
    async (ids) => {
      asked.push(ids);
      return ids.filter((id) => id !== "none").map((id) => ({ id }));
    },
    ({ id }) => id,
  );
  const found = await Promise.all(["a", "b", "a", "none", "'; drop"].map(load));
  assert.deepEqual(found, [{ id: "a" }, { id: "b" }, { id: "a" }, null, null]);
  assert.deepEqual(asked, [["a", "b", "none"]]);
});

test("each caller gets its own row, looked up once", async () => {
  const asked: (readonly string[])[] = [];
  const load = createLoader(
    async (keys) => {
      asked.push(keys);
      return keys.filter((key) => key.length > 1);
    },
    (item) => item,
  );
  const answers = await Promise.all(["aa", "b", "cc", "aa"].map(load));
  assert.deepEqual(answers, ["aa", null, "cc", "aa"]);
  assert.deepEqual(asked, [["aa", "b", "cc"]]);
  assert.equal(await load("aa"), "aa");
  await load("dd");
  assert.deepEqual(asked, [["aa", "b", "cc"], ["dd"]]);
  assert.deepEqual(await Promise.all(["", "a\u0000", "x".repeat(65)].map(load)), [null, null, null]);
  assert.equal(asked.length, 2, "malformed ids are not looked up");
});

test("many look-ups are a few statements of bounded length", async () => {
  const lengths: number[] = [];
  const load = createLoader(
    async (keys) => {
      lengths.push(keys.length);
      return keys;
    },
    (item) => item,
  );
  const keys = Array.from({ length: 1200 }, (_, at) => `key_${at}`);
  assert.deepEqual(await Promise.all(keys.map(load)), keys);
  assert.deepEqual(lengths.sort(), [200, 500, 500]);
});

test("a failed look-up fails only the callers that waited for it", async () => {
  let fails = true;
  const load = createLoader(
    async (keys) => {
      if (fails) throw new Error("away");
      return keys;
    },
    (item) => item,
  );
  const answers = await Promise.allSettled([load("a"), load("b")]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  fails = false;
  assert.equal(await load("c"), "c");
});
