import type { Account } from "../accounts/account.ts";
import type { ChangedAccount } from "../accounts/change-account.ts";

type Contact = Pick<Account, "contactAddress" | "contactAddressVerified" | "pendingContactAddress">;

const names: Readonly<Record<keyof Contact, string>> = {
  contactAddress: "contact_address",
  contactAddressVerified: "contact_address_verified",
  pendingContactAddress: "pending_contact_address",
};

/** The waiting address has proven itself and is in use. */
export const withPendingConfirmed = (account: Account, now: Date): ChangedAccount =>
  moved(account, { ...verified(account.pendingContactAddress), pendingContactAddress: null }, now);

/** Nothing waits any more. */
export const withPendingCancelled = (account: Account, now: Date): ChangedAccount =>
  moved(account, { ...account, pendingContactAddress: null }, now);

/** An earlier holder is back, whatever came after them. */
export const withContactRestored = (account: Account, address: string, now: Date): ChangedAccount =>
  moved(account, { ...verified(address), pendingContactAddress: null }, now);

const verified = (address: string | null) => ({ contactAddress: address, contactAddressVerified: address !== null });

function moved(account: Account, contact: Contact, now: Date): ChangedAccount {
  const { contactAddress, contactAddressVerified, pendingContactAddress } = contact;
  const next = { ...account, contactAddress, contactAddressVerified, pendingContactAddress };
  const accountFields = Object.entries(names)
    .filter(([field]) => account[field as keyof Contact] !== next[field as keyof Contact])
    .map(([, name]) => name);
  if (accountFields.length === 0) return { account, accountFields, settingsFields: [] };
  return { account: { ...next, revision: account.revision + 1n, updatedAt: now }, accountFields, settingsFields: [] };
}
