import assert from "node:assert/strict";
import { test } from "node:test";
import { type AccountState, accountStates, type Scope } from "@signalbox/contracts";
import { createManualClock, isAppError, minutes } from "@signalbox/core";
import { requireScopes, requireState, requireStepUp, stateRefusal } from "./access-rules.ts";
import type { Principal, PrincipalCredential } from "./principal.ts";

const clock = createManualClock();

function principal(
  state: AccountState,
  scopes: Scope[] = [],
  credential: Partial<PrincipalCredential> = {},
): Principal {
  return {
    accountId: "acc_1",
    state,
    epoch: 0,
    scopes: new Set(scopes),
    roles: ["owner"],
    credential: { kind: "token", id: "jti:corp:1", authTimeMs: null, ...credential },
    expiresAt: null,
  };
}

const refusedWith = (detail: string) => (error: unknown) =>
  isAppError(error) && error.code === "forbidden" && error.details[0]?.code === detail;

test("every missing scope is named", () => {
  requireScopes(principal("active", ["images:read", "images:write"]), ["images:read", "images:write"]);
  assert.throws(
    () => requireScopes(principal("active", ["images:read"]), ["images:read", "images:write"]),
    /images:write/,
  );
});

test("each account state permits exactly what the contract's table lists", () => {
  const left = Object.fromEntries(
    accountStates.map((state) => [
      state,
      (["read", "write", "own-account:read", "own-account:write"] as const).filter((access) => {
        try {
          requireState(principal(state), access);
          return true;
        } catch (error) {
          assert.ok(refusedWith(`account_${state}`)(error));
          return false;
        }
      }),
    ]),
  );
  assert.deepEqual(left, {
    pending: ["read", "own-account:read", "own-account:write"],
    active: ["read", "write", "own-account:read", "own-account:write"],
    suspended: ["read", "own-account:read"],
    disabled: ["own-account:read"],
    deleted: [],
  });
});

test("a refused owner reads the state, since when it holds, and the reason that was given", () => {
  const refusedIn = (stateChange?: Principal["stateChange"]) =>
    stateRefusal({ ...principal("suspended"), stateChange }, "write")?.message;
  const atMs = Date.parse("2026-01-03T08:15:00.000Z");
  const since = "The account has been suspended since 2026-01-03T08:15:00.000Z.";
  assert.equal(refusedIn({ atMs, reason: "Unpaid." }), `${since} Reason: Unpaid.`);
  assert.equal(refusedIn({ atMs, reason: null }), since);
  assert.equal(refusedIn(), "The account is suspended.");
});

test("a sensitive change needs a sign-in of the last 15 minutes", () => {
  const signedInAt = (agoMs: number) => principal("active", [], { authTimeMs: clock.nowMs() - agoMs });
  requireStepUp(signedInAt(minutes(15)), clock);
  assert.throws(() => requireStepUp(signedInAt(minutes(15) + 1), clock), refusedWith("step_up_required"));
  assert.throws(() => requireStepUp(principal("active"), clock), refusedWith("step_up_required"));
});

test("an API key steps up by its scope, a client never does", () => {
  requireStepUp(principal("active", ["account:security"], { kind: "api-key" }), clock);
  assert.throws(
    () => requireStepUp(principal("active", [], { kind: "api-key" }), clock),
    refusedWith("step_up_required"),
  );
  const client = principal("active", ["account:security"], { kind: "client", authTimeMs: clock.nowMs() });
  assert.throws(() => requireStepUp(client, clock), refusedWith("step_up_required"));
});
