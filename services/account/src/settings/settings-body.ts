import { z } from "zod";
import { ruledText } from "../accounts/account-body.ts";
import { checkLocale, checkTimezone } from "../accounts/account-fields.ts";

function members(supportedLocales: () => readonly string[]) {
  return {
    locale: ruledText((locale) => checkLocale(supportedLocales())(locale), "unsupported").meta({ examples: ["en"] }),
    timezone: ruledText(checkTimezone, "unsupported").meta({
      description: "An IANA time zone.",
      examples: ["Europe/Berlin"],
    }),
  };
}

const notifications = { product_updates: z.boolean().describe("Whether news about the product is wanted.") };

/** PATCH: what is absent stays, inside `notifications` too. */
export function settingsPatch(supportedLocales: () => readonly string[]) {
  const fields = { ...members(supportedLocales), notifications: z.strictObject(notifications).partial() };
  return z.strictObject(fields).partial();
}

/** PUT: nothing of the settings is nullable, so everything is required. */
export function settingsReplacement(supportedLocales: () => readonly string[]) {
  return z.strictObject({ ...members(supportedLocales), notifications: z.strictObject(notifications) });
}
