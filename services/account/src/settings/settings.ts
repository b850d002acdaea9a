import type { AccountSettingsResource } from "@signalbox/contracts";
import type { Account } from "../accounts/account.ts";

/** The settings as their owner sees them. */
export function viewSettings(account: Account): AccountSettingsResource {
  return {
    locale: account.locale,
    timezone: account.timezone,
    notifications: { product_updates: account.productUpdates },
    updated_at: account.settingsUpdatedAt.toISOString(),
    links: { self: "/api/account/settings/", account: "/api/account/" },
  };
}
