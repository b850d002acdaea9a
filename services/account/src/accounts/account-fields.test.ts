import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalAddress, checkContactAddress, checkLocale, checkTimezone, type FieldRule } from "./account-fields.ts";

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

test("locales are those of the deployment, exactly as listed", () => {
  judges(checkLocale(["en", "pt-BR"]), { good: ["en", "pt-BR"], bad: ["", "pt", "pt-br", "EN", "de"] });
});

test("spellings of one mailbox have one canonical form, and it is its own", () => {
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

test("an address has no invisible characters, and its domain is written out", () => {
  const hidden = ["a\u200Bda", "a\u00ADda", "ada\u200D", "\u2060ada", "ada\u{E0061}", "\u3164"];
  for (const local of hidden) assert.notEqual(checkContactAddress(`${local}@example.org`), null);
  for (const domain of ["ex%61mple.org", "ex\u00ADample.org"]) {
    assert.notEqual(checkContactAddress(`ada@${domain}`), null);
  }
});
