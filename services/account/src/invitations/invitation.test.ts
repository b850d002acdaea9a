import assert from "node:assert/strict";
import { test } from "node:test";
import { type Role, type Scope, scopesOfRole } from "@signalbox/contracts";
import { hours } from "@signalbox/core";
import { serviceWith } from "@signalbox/testing";
import { scopesOfAccount } from "../accounts/account.ts";
import type { AccountService } from "../context/account-service.ts";
import { mayRegister, type RegistrationMode } from "../registration/registration.ts";
import {
  faultOfEnd,
  grantOfExisting,
  type Invitation,
  newInvitation,
  renewed,
  startInvitation,
  statusOfInvitation,
} from "./invitation.ts";

const now = new Date("2026-01-01T00:00:00.000Z");
const later = (ms: number) => new Date(now.getTime() + ms);
const get = (name: string) => (name === "supported.locales" ? ["en", "de"] : undefined);
const rules = newInvitation(serviceWith<AccountService>({ configuration: { get } as AccountService["configuration"] }));
const invite = (given: object = {}): Invitation =>
  startInvitation(rules.parse(given), {
    accountId: "acc_1",
    inviterId: "acc_1",
    digest: Buffer.alloc(32),
    locale: "en",
    now,
  });

test("an invitation lasts seven days unless it says otherwise", () => {
  const { role, scopesMax, locale, expiresAt, mailed } = invite({ address: "Ada@Example.org" });
  assert.deepEqual([role, scopesMax, locale, mailed], ["owner", [], "en", [now]]);
  assert.deepEqual(expiresAt, later(hours(24 * 7)));
  assert.equal(invite({ address: "Ada@Example.org" }).canonicalAddress, "ada@example.org");
});

test("an invitation ends in the future, within 30 days", () => {
  assert.equal(faultOfEnd(now, now), "passed");
  assert.equal(faultOfEnd(later(hours(24 * 30)), now), null);
  assert.equal(faultOfEnd(later(hours(24 * 30) + 1), now), "too_big");
});

test("an invitation that is sent again never ends earlier", () => {
  const first = invite({ address: "ada@example.org", expires_at: later(hours(24 * 20)).toISOString() });
  assert.deepEqual(renewed(first, Buffer.alloc(32), later(hours(1))).expiresAt, first.expiresAt);
  const next = renewed(first, Buffer.alloc(32), later(hours(24 * 25)));
  assert.deepEqual(next.expiresAt, later(hours(24 * 32)));
  assert.deepEqual([statusOfInvitation(first, later(hours(24 * 25))), next.mailed.length], ["expired", 2]);
});

test("a role adds no more than the invitation's scopes", () => {
  const grant = (roles: Role[], scopesMax: Scope[], given: object) =>
    grantOfExisting({ roles, scopesMax }, invite(given));
  assert.deepEqual(grant(["owner"], [], { role: "operator" }), { roles: ["owner", "operator"], scopesMax: [] });
  const bounded = grant(["owner"], [], { role: "operator", scopes_max: ["config:admin"] });
  assert.deepEqual(bounded.roles, ["owner", "operator"]);
  assert.deepEqual(scopesOfAccount(bounded), new Set([...scopesOfRole("owner"), "config:admin"]));
  const viewer = grant(["viewer"], ["images:read"], { role: "owner", scopes_max: ["images:write"] });
  assert.deepEqual(scopesOfAccount(viewer), new Set(["images:read", "images:write"]));
});

test("the mode decides which addresses register without an invitation", () => {
  const domains = ["example.org"];
  const may = (mode: RegistrationMode, address: string) => mayRegister(address, { mode, domains });
  assert.deepEqual(
    (["closed", "invited", "domains", "open"] as const).map((mode) => may(mode, "ada@Example.ORG")),
    [false, false, true, true],
  );
  for (const other of ["ada@sub.example.org", "ada@example.org.evil.example", "ada@evilexample.org"]) {
    assert.equal(may("domains", other), false, other);
  }
});
