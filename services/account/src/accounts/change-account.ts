import type { Account } from "./account.ts";

/** The changes that a write requests. An absent member stays; `contactAddress: null` clears. */
export interface AccountChanges {
  readonly displayName?: string | undefined;
  readonly contactAddress?: string | null | undefined;
  readonly locale?: string | undefined;
  readonly timezone?: string | undefined;
  readonly productUpdates?: boolean | undefined;
}

/**
 * The account after a write, with the wire names of the changed fields, per view. Both lists are empty when nothing
 * changed.
 */
export interface ChangedAccount {
  readonly account: Account;
  readonly accountFields: readonly string[];
  readonly settingsFields: readonly string[];
}

type Compared =
  | "displayName"
  | "externalId"
  | "contactAddress"
  | "contactAddressVerified"
  | "pendingContactAddress"
  | "locale";
type Field = Compared | "timezone" | "productUpdates";

const accountNames: Readonly<Partial<Record<Field, string>>> = {
  displayName: "display_name",
  externalId: "external_id",
  contactAddress: "contact_address",
  contactAddressVerified: "contact_address_verified",
  pendingContactAddress: "pending_contact_address",
  locale: "locale",
  timezone: "timezone",
};

/** Locale and time zone belong to the account and also appear in the settings: a change of them moves both views. */
const settingsNames: Readonly<Partial<Record<Field, string>>> = {
  locale: "locale",
  timezone: "timezone",
  productUpdates: "notifications",
};

export function changeAccount(account: Account, changes: AccountChanges, now: Date): ChangedAccount {
  const next: Account = {
    ...account,
    displayName: changes.displayName ?? account.displayName,
    locale: changes.locale ?? account.locale,
    timezone: changes.timezone ?? account.timezone,
    productUpdates: changes.productUpdates ?? account.productUpdates,
    ...contactAfter(account, changes.contactAddress),
  };
  return changedAccount(account, next, now);
}

/** Compares an account with its next state. Revisions and times move only for a view that really changed. */
export function changedAccount(account: Account, next: Account, now: Date): ChangedAccount {
  const accountFields = touched(account, next, accountNames);
  const settingsFields = touched(account, next, settingsNames);
  return {
    account: {
      ...next,
      ...(accountFields.length === 0 ? {} : { revision: account.revision + 1n, updatedAt: now }),
      ...(settingsFields.length === 0
        ? {}
        : { settingsRevision: account.settingsRevision + 1n, settingsUpdatedAt: now }),
    },
    accountFields,
    settingsFields,
  };
}

/** Returns true for a change of contact details, which needs a recent sign-in. */
export function touchesContact({ accountFields }: ChangedAccount): boolean {
  return accountFields.some((field) => field.includes("contact_address"));
}

/**
 * A new address stays pending until it is confirmed, and the old one stays in use; null clears both. The value in use
 * changes nothing and does not cancel a pending one: a client that sends back what it read would cancel it by accident.
 */
function contactAfter(account: Account, wanted: string | null | undefined) {
  if (wanted === undefined || wanted === account.contactAddress) return {};
  if (wanted === null) return { contactAddress: null, contactAddressVerified: false, pendingContactAddress: null };
  return { pendingContactAddress: wanted };
}

function touched(before: Account, after: Account, names: Readonly<Partial<Record<Field, string>>>): string[] {
  return (Object.entries(names) as [Field, string][])
    .filter(([field]) => before[field] !== after[field])
    .map(([, name]) => name);
}
