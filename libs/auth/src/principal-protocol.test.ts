import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "@signalbox/core";
import { requireOwnAccount, requirePortal, requireScopes, seesEndpoint } from "./access-rules.ts";
import type { Principal } from "./principal.ts";
import { answerFromPrincipal, PrincipalAnswer, principalFromAnswer } from "./principal-protocol.ts";

const session = (endpointIds: readonly string[] | null, state: Principal["state"] = "active"): Principal => ({
  accountId: "acc_1",
  state,
  epoch: 3,
  scopes: new Set(["webhooks:read"]),
  roles: [],
  credential: { kind: "portal", id: "pts_1", tokenId: "key_1", authTimeMs: null },
  portal: { endpointIds },
  expiresAt: new Date(60_000),
});
const { portal: _, ...rest } = session(null);
const person: Principal = rest;
const member: Principal = { ...person, member: { accountId: "acc_2", role: "owner", epoch: 7 } };

test("a principal crosses the network unchanged, of a person, a member or a portal session", () => {
  for (const principal of [session(["whe_1"]), session(null), person, member]) {
    const wire = PrincipalAnswer.parse(JSON.parse(JSON.stringify(answerFromPrincipal(principal))));
    assert.deepEqual(principalFromAnswer(wire), principal);
  }
});

test("a portal session is refused by everything that does not admit it, whatever its scopes", () => {
  const isRefusal = (error: unknown) => error instanceof AppError && error.details[0]?.code === "portal_session";
  assert.throws(() => requireScopes(session(null), []), isRefusal);
  assert.throws(() => requireScopes(session(null), ["webhooks:read"]), isRefusal);
  assert.throws(() => requirePortal(session(null), false), isRefusal);
  assert.throws(() => requirePortal(session(null, "suspended"), true), isRefusal);
  assert.doesNotThrow(() => requireScopes(session(null), ["webhooks:read"], { portal: true }));
  assert.throws(() => requireScopes(session(null), ["webhooks:write"], { portal: true }), /webhooks:write is required/);
  assert.doesNotThrow(() => requireScopes(person, ["webhooks:read"]));
});

test("a session of chosen endpoints sees those, one of the account all of them", () => {
  assert.deepEqual(
    ["whe_1", "whe_2", "undefined"].map((id) => seesEndpoint(session(["whe_1"]), id)),
    [true, false, false],
  );
  assert.ok(seesEndpoint(session(null), "whe_2"));
  assert.ok(seesEndpoint(person, "whe_2"));
});

test("a member is refused by what belongs to the person of the account", () => {
  const isRefusal = (error: unknown) => error instanceof AppError && error.details[0]?.code === "not_owner";
  assert.throws(() => requireOwnAccount(member), isRefusal);
  assert.doesNotThrow(() => requireOwnAccount(person));
});
