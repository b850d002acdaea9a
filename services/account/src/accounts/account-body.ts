import { z } from "zod";
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

/** The writable members of the account. The supported locales are asked for at each request: they are a live property. */
function members(supportedLocales: () => readonly string[]) {
  return {
    display_name: ruledText(checkDisplayName).meta({ minLength: 1, maxLength: 100 }),
    contact_address: ruledText(checkContactAddress)
      .nullable()
      .describe("An e-mail address. A new one is pending until it is confirmed; null clears at once."),
    locale: ruledText((locale) => checkLocale(supportedLocales())(locale), "unsupported").meta({ examples: ["en"] }),
    timezone: ruledText(checkTimezone, "unsupported").meta({
      description: "An IANA time zone.",
      examples: ["Europe/Berlin"],
    }),
  };
}

/** PATCH: what is absent stays. */
export function accountPatch(supportedLocales: () => readonly string[]) {
  return z.strictObject(members(supportedLocales)).partial();
}

/** PUT: the whole writable representation; the nullable contact address may be absent, which clears it. */
export function accountReplacement(supportedLocales: () => readonly string[]) {
  const { contact_address, ...required } = members(supportedLocales);
  return z.strictObject({ ...required, contact_address: contact_address.default(null) });
}
