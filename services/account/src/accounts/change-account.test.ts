import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Account } from "./account.ts";
import { type AccountChanges, changeAccount, touchesContact } from "./change-account.ts";
import { firstAccount } from "./provisioning.ts";

const created = new Date("2026-01-01T00:00:00.000Z");
const now = new Date("2026-01-02T00:00:00.000Z");
const values = { supportedLocales: ["en", "de"], defaultLocale: "en", requireVerifiedContact: false };
const account: Account = {
  ...firstAccount({ name: "Ada", email: "ada@example.org", email_verified: true }, values, created),
};

test("a write that changes nothing moves no revision and no time", () => {
  const same: AccountChanges = { displayName: "Ada", contactAddress: "ada@example.org", locale: "en", timezone: "UTC" };
  for (const changes of [{}, same, { productUpdates: false }]) {
    assert.deepEqual(changeAccount(account, changes, now), { account, accountFields: [], settingsFields: [] });
  }
});

test("a change of the display name moves the account's view alone", () => {
  const changed = changeAccount(account, { displayName: "Countess" }, now);
  assert.deepEqual(changed.accountFields, ["display_name"]);
  assert.deepEqual(changed.settingsFields, []);
  assert.equal(changed.account.revision, 2n);
  assert.equal(changed.account.updatedAt, now);
  assert.equal(changed.account.settingsRevision, 1n);
  assert.equal(changed.account.settingsUpdatedAt, created);
});

test("locale and time zone belong to both views and move both", () => {
  const changed = changeAccount(account, { locale: "de", timezone: "Europe/Berlin" }, now);
  assert.deepEqual(changed.accountFields, ["locale", "timezone"]);
  assert.deepEqual(changed.settingsFields, ["locale", "timezone"]);
  assert.deepEqual([changed.account.revision, changed.account.settingsRevision], [2n, 2n]);
});

test("a notification choice moves the settings alone", () => {
  const changed = changeAccount(account, { productUpdates: true }, now);
  assert.deepEqual([changed.accountFields, changed.settingsFields], [[], ["notifications"]]);
});

test("a new contact address waits while the old one stays in use", () => {
  const changed = changeAccount(account, { contactAddress: "new@example.org" }, now);
  assert.equal(changed.account.contactAddress, "ada@example.org");
  assert.equal(changed.account.contactAddressVerified, true);
  assert.equal(changed.account.pendingContactAddress, "new@example.org");
  assert.deepEqual(changed.accountFields, ["pending_contact_address"]);
  assert.equal(touchesContact(changed), true);
});

test("the address in use, sent back, changes nothing, whether another one waits or not", () => {
  const waiting = changeAccount(account, { contactAddress: "new@example.org" }, now).account;
  const without = { ...waiting, contactAddress: null, contactAddressVerified: false };
  for (const start of [account, waiting, without]) {
    const changed = changeAccount(start, { contactAddress: start.contactAddress }, now);
    assert.deepEqual(changed, { account: start, accountFields: [], settingsFields: [] });
  }
});

test("null clears the address in use and the waiting one at once", () => {
  const waiting = changeAccount(account, { contactAddress: "new@example.org" }, now).account;
  const { account: cleared, accountFields } = changeAccount(waiting, { contactAddress: null }, now);
  assert.deepEqual([cleared.contactAddress, cleared.contactAddressVerified], [null, false]);
  assert.equal(cleared.pendingContactAddress, null);
  assert.deepEqual(accountFields, ["contact_address", "contact_address_verified", "pending_contact_address"]);
});

const changesOf = fc.record(
  {
    displayName: fc.constantFrom("Ada", "Eve", "0", "false"),
    contactAddress: fc.constantFrom(null, "ada@example.org", "eve@example.org"),
    locale: fc.constantFrom("en", "de"),
    timezone: fc.constantFrom("UTC", "Europe/Berlin"),
    productUpdates: fc.boolean(),
  },
  { requiredKeys: [] },
);

test("the same changes applied twice are applied once", () => {
  fc.assert(
    fc.property(changesOf, changesOf, (before, changes) => {
      const start = changeAccount(account, before, now).account;
      const once = changeAccount(start, changes, now);
      const twice = changeAccount(once.account, changes, new Date(now.getTime() + 1));
      assert.deepEqual(twice, { account: once.account, accountFields: [], settingsFields: [] });
    }),
  );
});
