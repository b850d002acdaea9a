import { z } from "zod";
import { type Present, sharedMembers } from "../accounts/account-body.ts";

const notifications = { product_updates: z.boolean().describe("Whether news about the product is wanted.") };

/** PATCH: what is absent stays, inside `notifications` too. */
export function settingsPatch(supportedLocales: () => readonly string[], present: Present = null) {
  const shared = sharedMembers(supportedLocales, present);
  return z.strictObject({ ...shared, notifications: z.strictObject(notifications).partial() }).partial();
}

/** PUT: nothing of the settings is nullable, so everything is required. */
export function settingsReplacement(supportedLocales: () => readonly string[], present: Present = null) {
  return z.strictObject({ ...sharedMembers(supportedLocales, present), notifications: z.strictObject(notifications) });
}
