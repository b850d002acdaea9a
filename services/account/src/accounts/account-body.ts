import { z } from "zod";
import type { Account } from "./account.ts";
import { checkContactAddress, checkDisplayName, checkLocale, checkTimezone, type FieldRule } from "./account-fields.ts";

/** A text in one Unicode form that keeps a rule of ours. `code` is the stable word in `details`. */
export function ruledText(rule: FieldRule, code = "invalid") {
  return z
    .string()
    .normalize("NFC")
    .check(({ value, issues }) => {
      const problem = rule(value);
      if (problem !== null) issues.push({ code: "custom", input: value, message: problem, params: { code } });
    });
}

/** What an account has now. It can be sent back also where nobody could choose it any more. */
export type Present = Pick<Account, "locale" | "timezone"> | null;

/** The members that account and settings share. The supported locales are asked for at each request: they are a live property. */
export function sharedMembers(supportedLocales: () => readonly string[], present: Present) {
  const isSupported: FieldRule = (locale) => checkLocale(supportedLocales())(locale);
  return {
    locale: ruledText(unless(present?.locale, isSupported), "unsupported").meta({ examples: ["en"] }),
    timezone: ruledText(unless(present?.timezone, checkTimezone), "unsupported").meta({
      description: "An IANA time zone.",
      examples: ["Europe/Berlin"],
    }),
  };
}

const unless =
  (present: string | undefined, rule: FieldRule): FieldRule =>
  (value) =>
    value === present ? null : rule(value);

/** The writable members of the account. */
function members(supportedLocales: () => readonly string[], present: Present) {
  return {
    display_name: ruledText(checkDisplayName).meta({ minLength: 1, maxLength: 100 }),
    contact_address: ruledText(checkContactAddress)
      .nullable()
      .describe("An e-mail address. A new one is pending until it is confirmed; null clears at once."),
    ...sharedMembers(supportedLocales, present),
  };
}

/** PATCH: what is absent stays. */
export function accountPatch(supportedLocales: () => readonly string[], present: Present = null) {
  return z.strictObject(members(supportedLocales, present)).partial();
}

/** PUT: the whole writable representation; the nullable contact address may be absent, which clears it. */
export function accountReplacement(supportedLocales: () => readonly string[], present: Present = null) {
  const { contact_address, ...required } = members(supportedLocales, present);
  return z.strictObject({ ...required, contact_address: contact_address.default(null) });
}
