import assert from "node:assert/strict";
import test from "node:test";
import { type AccountState, accountStates, mayAccess, mayTransition } from "./account-state.ts";
import { audienceOf, isRole, isScope, isVisibleTo, privilegedScopes, roles, scopes, scopesOfRole } from "./scopes.ts";

/** CONTRACT §1, the table of account states. */
const allowed: Readonly<Record<AccountState, string>> = {
  pending: "read own-account:read own-account:write deletion subscribe",
  active: "read write own-account:read own-account:write deletion subscribe",
  suspended: "read own-account:read",
  disabled: "own-account:read recovery deletion",
  deleted: "",
};

for (const state of accountStates) {
  test(`${state} accounts have exactly the access of the contract`, () => {
    const kinds = [
      "read",
      "write",
      "own-account:read",
      "own-account:write",
      "recovery",
      "deletion",
      "subscribe",
    ] as const;
    assert.equal(kinds.filter((kind) => mayAccess(state, kind)).join(" "), allowed[state]);
  });
}

test("only an administrator can suspend or revive an account; its owner can disable or delete it", () => {
  const by = (actor: "owner" | "administrator" | "system") =>
    accountStates.flatMap((from) =>
      accountStates.filter((to) => mayTransition(from, to, actor)).map((to) => `${from} to ${to}`),
    );
  assert.deepEqual(by("owner"), [
    "pending to deleted",
    "active to disabled",
    "active to deleted",
    "disabled to deleted",
  ]);
  assert.deepEqual(by("system"), ["pending to active"]);
  assert.deepEqual(by("administrator"), [
    "pending to active",
    "pending to deleted",
    "active to suspended",
    "active to disabled",
    "active to deleted",
    "suspended to active",
    "suspended to disabled",
    "suspended to deleted",
    "disabled to active",
    "disabled to deleted",
    "deleted to active",
  ]);
});

test("roles bring the scopes of the contract", () => {
  assert.deepEqual(scopesOfRole("viewer"), ["account:read", "images:read", "webhooks:read", "config:read"]);
  assert.equal(scopesOfRole("owner").includes("events:publish"), true);
  assert.equal(scopesOfRole("owner").includes("env:read"), false);
  assert.equal(scopesOfRole("operator").includes("images:write"), false);
  assert.deepEqual(scopesOfRole("admin"), scopes);
});

test("an owner's role holds nothing that only a mapped role or a key may bring", () => {
  assert.deepEqual(
    scopesOfRole("owner").filter((scope) => privilegedScopes.has(scope)),
    [],
  );
});

test("names from outside are recognised exactly", () => {
  assert.equal(isScope("images:read"), true);
  assert.equal(isScope("images:READ"), false);
  assert.equal(isRole("toString"), false);
});

test("an operator of configuration is who has `config:admin`", () => {
  const readers = {
    public: audienceOf(null),
    ...Object.fromEntries(roles.map((role) => [role, audienceOf(new Set(scopesOfRole(role)))])),
  };
  const visible = Object.entries(readers).map(([reader, audience]) => [
    reader,
    (["public", "account", "operator", undefined] as const).map((declared) => isVisibleTo(audience, declared)),
  ]);
  assert.deepEqual(Object.fromEntries(visible), {
    public: [true, false, false, false],
    viewer: [true, true, false, false],
    owner: [true, true, false, false],
    operator: [true, true, true, true],
    admin: [true, true, true, true],
  });
});
