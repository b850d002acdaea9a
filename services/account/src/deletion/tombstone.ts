import type { Account } from "../accounts/account.ts";

/** What stays of a purged account: that it was there, and when it came and went. Nothing tells whose it was. */
export function tombstoneOf(account: Account, now: Date): Account {
  return {
    ...account,
    displayName: "",
    contactAddress: null,
    contactAddressVerified: false,
    pendingContactAddress: null,
    // BCP 47 for "not known".
    locale: "und",
    timezone: "UTC",
    productUpdates: false,
    statusReason: null,
    roles: [],
    accessEpoch: account.accessEpoch + 1,
    revision: account.revision + 1n,
    settingsRevision: account.settingsRevision + 1n,
    updatedAt: now,
    settingsUpdatedAt: now,
    purgedAt: now,
  };
}
