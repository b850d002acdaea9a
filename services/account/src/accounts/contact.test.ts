import assert from "node:assert/strict";
import { test } from "node:test";
import { firstAccount } from "../registration/provisioning.ts";
import type { Account } from "./account.ts";
import { cancelPending, confirmPending, loseVerification, restoreContact } from "./contact.ts";

const created = new Date("2026-01-01T00:00:00.000Z");
const now = new Date("2026-01-02T00:00:00.000Z");
const values = { supportedLocales: ["en"], defaultLocale: "en", requireVerifiedContact: false };
const account: Account = {
  ...firstAccount({ email: "old@example.org", email_verified: true }, values, created),
  pendingContactAddress: "new@example.org",
};
const contactOf = (each: Account) => [each.contactAddress, each.contactAddressVerified, each.pendingContactAddress];

test("a confirmation puts the pending address in use, verified, as one revision", () => {
  const changed = confirmPending(account, now);
  assert.deepEqual(contactOf(changed.account), ["new@example.org", true, null]);
  assert.deepEqual(changed.accountFields, ["contact_address", "pending_contact_address"]);
  assert.deepEqual([changed.account.revision, changed.account.updatedAt], [account.revision + 1n, now]);
});

test("a cancellation leaves the address in use", () => {
  const { account: kept, accountFields } = cancelPending(account, now);
  assert.deepEqual([contactOf(kept), accountFields], [["old@example.org", true, null], ["pending_contact_address"]]);
  assert.deepEqual(cancelPending(kept, now), { account: kept, accountFields: [], settingsFields: [] });
});

test("an earlier address comes back verified, whatever is in use or pending", () => {
  const removed = { ...account, contactAddress: null, contactAddressVerified: false };
  const changed = restoreContact(removed, "first@example.org", now);
  assert.deepEqual(contactOf(changed.account), ["first@example.org", true, null]);
  assert.deepEqual(changed.accountFields, ["contact_address", "contact_address_verified", "pending_contact_address"]);
});

test("an address that lost its verification waits to be confirmed", () => {
  const alone = loseVerification({ ...account, pendingContactAddress: null }, now);
  assert.deepEqual(contactOf(alone.account), ["old@example.org", false, "old@example.org"]);
  assert.deepEqual(alone.accountFields, ["contact_address_verified", "pending_contact_address"]);
  assert.deepEqual(contactOf(loseVerification(account, now).account), ["old@example.org", false, "new@example.org"]);
});
