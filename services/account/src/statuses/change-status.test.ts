import assert from "node:assert/strict";
import { test } from "node:test";
import { accountStates, type TransitionActor } from "@signalbox/contracts";
import type { Account } from "../accounts/account.ts";
import { firstAccount } from "../registration/provisioning.ts";
import { changeStatus } from "./change-status.ts";

const created = new Date("2026-01-01T00:00:00.000Z");
const now = new Date("2026-01-02T00:00:00.000Z");
const values = { supportedLocales: ["en"], defaultLocale: "en", requireVerifiedContact: false };
const account: Account = firstAccount({ name: "Ada" }, values, created);
const actors: readonly TransitionActor[] = ["owner", "administrator", "system"];

/** CONTRACT §1, written out: the actors of each permitted transition. All others are refused. */
const ways: Readonly<Record<string, readonly TransitionActor[]>> = {
  "pending active": ["administrator", "system"],
  "pending deleted": ["owner", "administrator"],
  "active suspended": ["administrator"],
  "active disabled": ["owner", "administrator"],
  "active deleted": ["owner", "administrator"],
  "suspended active": ["administrator"],
  "suspended disabled": ["administrator"],
  "suspended deleted": ["administrator"],
  "disabled active": ["administrator"],
  "disabled deleted": ["owner", "administrator"],
  "deleted active": ["administrator"],
};

for (const from of accountStates) {
  for (const to of accountStates) {
    const allowed = ways[`${from} ${to}`] ?? [];
    test(`from ${from} to ${to} leads ${allowed.join(" and ") || "nobody"}`, () => {
      for (const actor of actors) {
        const moved = changeStatus({ ...account, status: from }, { to, actor, reason: "because" }, now);
        assert.equal(moved !== null, allowed.includes(actor), actor);
        if (moved) assert.deepEqual([moved.status, moved.statusActor, moved.statusReason], [to, actor, "because"]);
      }
    });
  }
}

test("a change of status moves the account's validator, its time and its access epoch, and nothing of its settings", () => {
  const asking = { ...account, status: "disabled", recoveryRequestedAt: created } as const;
  assert.deepEqual(changeStatus(asking, { to: "active", actor: "administrator", reason: null }, now), {
    ...account,
    status: "active",
    statusActor: "administrator",
    statusReason: null,
    statusChangedAt: now,
    recoveryRequestedAt: null,
    accessEpoch: 1,
    revision: 2n,
    updatedAt: now,
  });
});

test("nobody brings an account back once its purge has begun", () => {
  for (const purge of [{ purgeBegunAt: created }, { purgedAt: created }]) {
    const purged = { ...account, status: "deleted", ...purge } as const;
    for (const actor of actors) assert.equal(changeStatus(purged, { to: "active", actor, reason: null }, now), null);
  }
});
