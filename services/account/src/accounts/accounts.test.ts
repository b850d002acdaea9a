import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { firstAccount, type ProfileClaims } from "../registration/provisioning.ts";
import type { Account } from "./account.ts";
import { canonicalAddress, checkContactAddress, checkLocale, checkTimezone, type FieldRule } from "./account-fields.ts";
import { type AccountChanges, changeAccount, touchesContact } from "./change-account.ts";

function judges(rule: FieldRule, { good, bad }: { good: readonly string[]; bad: readonly string[] }) {
  for (const value of good) assert.equal(rule(value), null, `${JSON.stringify(value)} is good`);
  for (const value of bad) assert.notEqual(rule(value), null, `${JSON.stringify(value)} is bad`);
}

test("contact addresses are e-mail addresses, internationalised ones included", () => {
  judges(checkContactAddress, {
    good: ["a@b.co", "ada.byron+tag@example.org", "jörg@müller.example", "用户@例え.テスト", "o'brien@x-y.example.com"],
    bad: [
      "",
      "ada",
      "@example.org",
      "ada@",
      "ada@localhost",
      "ada@example..org",
      ".ada@example.org",
      "ada..b@example.org",
      "ada@-example.org",
      "ada@example.org\n",
      "a da@example.org",
      "ada@exa mple.org",
      "ada@127.0.0.1",
      "ada@[127.0.0.1]",
      '"ada"@example.org',
      "ada@example.org, eve@example.org",
      "ada<ada@example.org>",
      `${"a".repeat(65)}@example.org`,
      `a@${"b".repeat(64)}.org`,
      `a@${"b.".repeat(130)}org`,
      "a\u202Eb@example.org",
      "\ud800@example.org",
    ],
  });
});

test("time zones are names of the IANA database", () => {
  judges(checkTimezone, {
    good: [
      ...Intl.supportedValuesOf("timeZone"),
      ...["UTC", "GMT", "Etc/GMT+8", "EST5EDT", "America/Argentina/Buenos_Aires"],
      // Aliases: old and new names of the same zone.
      ...["Asia/Calcutta", "Asia/Kolkata", "Europe/Kiev", "Europe/Kyiv", "US/Pacific", "Japan", "GB"],
    ],
    bad: [
      ...["", "+02:00", "Europe/Atlantis", "GMT+2", "Europe/Berlin ", "Berlin", "../etc/passwd", "Factory"],
      // Other programs look names up by their exact spelling.
      ...["europe/berlin", "EUROPE/BERLIN", "utc", "asia/kolkata"],
      // Known to ICU alone.
      ...["IST", "PST", "ACT", "SystemV/EST5"],
    ],
  });
});

test("locales are those of the deployment, in any case", () => {
  judges(checkLocale(["en", "pt-BR"]), { good: ["en", "pt-BR", "pt-br", "EN"], bad: ["", "pt", "de"] });
});

test("spellings of one mailbox have one canonical form", () => {
  const canonical = "ada.byron@xn--bcher-kva.example";
  const spellings = [
    "ada.byron@bücher.example",
    "Ada.Byron@BÜCHER.example",
    "ada.byron@xn--bcher-kva.EXAMPLE",
    "ａda．byron@bu\u0308cher.example",
    "a\u00ADda.by\u200Bron@bücher.example",
    "ada.byron@bücher。example",
    canonical,
  ];
  for (const spelling of spellings) assert.equal(canonicalAddress(spelling), canonical, spelling);
  const others = ["ada+byron@example.org", "adabyron@example.org", "ada.byron@example.org", "straße@example.org"];
  assert.equal(new Set(others.map(canonicalAddress)).size, others.length);
  for (const one of [...others, "İda@example.org"]) {
    assert.equal(canonicalAddress(canonicalAddress(one)), canonicalAddress(one));
  }
});

test("an address is kept without invisible characters", () => {
  const hidden = ["a\u200Bda", "a\u00ADda", "ada\u200D", "\u2060ada", "ada\u{E0061}", "\u3164"];
  for (const local of hidden) assert.notEqual(checkContactAddress(`${local}@example.org`), null);
  for (const domain of ["ex%61mple.org", "ex\u00ADample.org"]) {
    assert.notEqual(checkContactAddress(`ada@${domain}`), null);
  }
});

const created = new Date("2026-01-01T00:00:00.000Z");
const now = new Date("2026-01-02T00:00:00.000Z");
const values = { supportedLocales: ["en", "de"], defaultLocale: "en", requireVerifiedContact: false };
const account: Account = {
  ...firstAccount({ name: "Ada", email: "ada@example.org", email_verified: true }, values, created),
};

test("a write that changes nothing leaves the revision alone", () => {
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

test("a change of locale moves the account and its settings", () => {
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

const provisionedAt = new Date("2026-01-01T00:00:00.000Z");
const published = {
  supportedLocales: ["en", "de", "pt-BR"],
  defaultLocale: "en",
  requireVerifiedContact: false,
};
const from = (claims: ProfileClaims, settings = {}) =>
  firstAccount(claims, { ...published, ...settings }, provisionedAt);

test("a new account takes its first values from the claims", () => {
  const claims = {
    name: "Ada",
    email: "ada@example.org",
    email_verified: true,
    locale: "de",
    zoneinfo: "Europe/Berlin",
  };
  const { displayName, contactAddress, contactAddressVerified, locale, timezone, status } = from(claims);
  assert.deepEqual(
    [displayName, contactAddress, contactAddressVerified, locale, timezone, status],
    ["Ada", "ada@example.org", true, "de", "Europe/Berlin", "active"],
  );
});

test("without usable claims an account has the defaults", () => {
  for (const claims of [
    {},
    { name: "", preferred_username: 7, locale: ["de"], zoneinfo: "Mars/Base" },
    { name: "a\u202Eb" },
  ]) {
    const account = from(claims);
    assert.equal(account.displayName, `Account ${account.id.slice(-6)}`);
    assert.deepEqual([account.contactAddress, account.locale, account.timezone], [null, "en", "UTC"]);
  }
});

test("a provider's name that is too long is shortened", () => {
  assert.equal(from({ name: ` ${"Ada ".repeat(40)}` }).displayName, `${"Ada ".repeat(25).slice(0, 99).trimEnd()}…`);
});

test("the user name stands in for a missing name", () => {
  assert.equal(from({ preferred_username: "ada" }).displayName, "ada");
});

test("an address that the issuer did not verify is not taken", () => {
  for (const email_verified of [false, undefined, "true", 1]) {
    assert.equal(from({ email: "ada@example.org", email_verified }).contactAddress, null);
  }
});

test("a locale claim is matched whatever its spelling, else by its language", () => {
  assert.equal(from({ locale: "pt_br" }).locale, "pt-BR");
  assert.equal(from({ locale: "de-AT" }).locale, "de");
  assert.equal(from({ locale: "fr" }).locale, "en");
});

test("an account waits for its contact to be verified only where that is asked for", () => {
  assert.equal(from({}).status, "active");
  assert.equal(from({}, { requireVerifiedContact: true }).status, "pending");
  assert.equal(from({ email: "a@b.co", email_verified: true }, { requireVerifiedContact: true }).status, "active");
});

test("ids of accounts are random", () => {
  assert.notEqual(from({}).id, from({}).id);
  assert.match(from({}).id, /^acc_[0-9A-Za-z]{22}$/);
});
