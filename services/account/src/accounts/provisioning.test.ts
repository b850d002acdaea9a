import assert from "node:assert/strict";
import { test } from "node:test";
import { firstAccount, type ProfileClaims } from "./provisioning.ts";

const now = new Date("2026-01-01T00:00:00.000Z");
const values = { supportedLocales: ["en", "de", "pt-BR"], defaultLocale: "en", requireVerifiedContact: false };
const from = (claims: ProfileClaims, settings = {}) => firstAccount(claims, { ...values, ...settings }, now);

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

test("without usable claims an account has the defaults and is named after its id", () => {
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

test("ids of accounts reveal nothing and never repeat", () => {
  assert.notEqual(from({}).id, from({}).id);
  assert.match(from({}).id, /^acc_[0-9A-Za-z]{22}$/);
});
