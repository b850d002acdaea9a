import assert from "node:assert/strict";
import { test } from "node:test";
import { textLocales, timeIn, translations } from "../texts/texts.ts";
import { type MailContent, type MailKind, writeMail } from "./write-mail.ts";

const [code, link, newAddress] = ["12345678", "https://signalbox.example/links/1", "b…@example.org"];
const address = "203.0.113.9";
const contents: { readonly [Kind in MailKind]: Extract<MailContent, { kind: Kind }> } = {
  "confirm-contact": { kind: "confirm-contact", code, link },
  "contact-change-requested": { kind: "contact-change-requested", link, newAddress },
  "contact-changed": { kind: "contact-changed", link, newAddress },
  "contact-cleared": { kind: "contact-cleared", link },
  "contact-change-undone": { kind: "contact-change-undone" },
  "step-up-code": { kind: "step-up-code", code },
  invitation: { kind: "invitation", inviter: "Ada", role: "owner", link: "https://signalbox.example/l" },
  "member-invitation": {
    kind: "member-invitation",
    inviter: "Ada",
    role: "viewer",
    link: "https://signalbox.example/l",
  },
  "sign-in-code": { kind: "sign-in-code", code },
  "api-key-created": { kind: "api-key-created", key: "sbx_dev_Ab", address },
  "client-created": { kind: "client-created", client: "cli_1", address },
  "client-secret-rotated": { kind: "client-secret-rotated", client: "cli_1", address },
  "login-added": { kind: "login-added", issuer: "corp", address },
  "passkey-added": { kind: "passkey-added", name: "Phone", address },
  "passkey-not-used": { kind: "passkey-not-used", browser: "Firefox, Linux", address },
  "browser-new": { kind: "browser-new", browser: "Firefox, Linux", address },
  "recovery-codes-created": { kind: "recovery-codes-created", address },
  "recovery-code-used": { kind: "recovery-code-used", browser: "Firefox, Linux", left: "9", address },
  "contact-set": { kind: "contact-set" },
  "account-exported": { kind: "account-exported" },
  "access-ended": { kind: "access-ended", id: "key_1" },
  "signed-out": { kind: "signed-out" },
  "account-disabled": { kind: "account-disabled" },
  "account-suspended": { kind: "account-suspended" },
  "account-deleted": { kind: "account-deleted", eraseAt: new Date("2027-01-31T12:00:00Z") },
};
const timezone = "Europe/Berlin";
const createdAt = new Date("2026-11-22T12:00:00Z");
const expiresAt = new Date("2026-11-22T12:10:00Z");
const sender = { server: "Harbour", baseUrl: "https://signalbox.example", supportUrl: "https://help.example/" };
const write = (content: MailContent, locale: string, from: Parameters<typeof writeMail>[2] = sender) =>
  writeMail(content, { locale, timezone, createdAt, expiresAt }, from);

test("every kind of mail has its text", () => {
  assert.deepEqual(Object.keys(translations.en.mails).sort(), Object.keys(contents).sort());
});

for (const locale of textLocales) {
  test(`${locale}: every mail has all its values, and says why it came and from where`, () => {
    for (const content of Object.values(contents)) {
      const { subject, text } = write(content, locale);
      const { kind, ...values } = content;
      assert.doesNotMatch(subject + text, /[{}]|\bundefined\b|\bnull\b|Signalbox/, kind);
      assert.doesNotMatch(subject, /\n/);
      for (const value of Object.values(values)) {
        const shown = value instanceof Date ? timeIn({ locale }, value, timezone) : value;
        assert.ok(text.includes(shown), `${kind} lacks ${shown}`);
      }
      const [, footer = ""] = text.split("\n\n-- \n");
      const [why = "", help = "", from] = footer.split("\n");
      assert.ok(why.includes("Harbour"), kind);
      assert.ok(help.endsWith(" https://help.example/"), kind);
      assert.equal(from, "Harbour, https://signalbox.example");
    }
  });
}

test("without a page of help none is named", () => {
  const { text } = write(contents["sign-in-code"], "en", { ...sender, supportUrl: null });
  assert.ok(!text.includes("Help"), text);
});

test("times are written in the reader's language", () => {
  assert.match(write(contents["sign-in-code"], "de-AT").text, /10 Minuten lang/);
  assert.match(write(contents["contact-changed"], "de").text, /bis 22\. November 2026 um 13:10 MEZ:/);
  assert.match(write(contents["contact-changed"], "fr").text, /jusqu’au 22 novembre 2026 à 13:10 UTC\+1 :/);
});
