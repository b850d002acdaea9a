import type { Account } from "../accounts/account.ts";
import type { ChangedAccount } from "../accounts/change-account.ts";
import { hintOf } from "../codes/code-answers.ts";

type Contact = Pick<Account, "contactAddress" | "contactAddressVerified" | "pendingContactAddress">;

const names: Readonly<Record<keyof Contact, string>> = {
  contactAddress: "contact_address",
  contactAddressVerified: "contact_address_verified",
  pendingContactAddress: "pending_contact_address",
};

/** Puts the pending address in use, verified. */
export const confirmPending = (account: Account, now: Date): ChangedAccount =>
  withContact(account, { ...verified(account.pendingContactAddress), pendingContactAddress: null }, now);

/** Drops the pending address. */
export const cancelPending = (account: Account, now: Date): ChangedAccount =>
  withContact(account, { ...account, pendingContactAddress: null }, now);

/** Puts the address of an earlier holder in use again, despite later changes. */
export const restoreContact = (account: Account, address: string, now: Date): ChangedAccount =>
  withContact(account, { ...verified(address), pendingContactAddress: null }, now);

/**
 * Removes the verification of the address in use, which another account has verified. The address becomes pending, so
 * its owner can ask for a code once the other account has given it up.
 */
export const loseVerification = (account: Account, now: Date): ChangedAccount =>
  withContact(
    account,
    {
      contactAddress: account.contactAddress,
      contactAddressVerified: false,
      pendingContactAddress: account.pendingContactAddress ?? account.contactAddress,
    },
    now,
  );

const verified = (address: string | null) => ({ contactAddress: address, contactAddressVerified: address !== null });

function withContact(account: Account, contact: Contact, now: Date): ChangedAccount {
  const { contactAddress, contactAddressVerified, pendingContactAddress } = contact;
  const next = { ...account, contactAddress, contactAddressVerified, pendingContactAddress };
  const accountFields = Object.entries(names)
    .filter(([field]) => account[field as keyof Contact] !== next[field as keyof Contact])
    .map(([, name]) => name);
  if (accountFields.length === 0) return { account, accountFields, settingsFields: [] };
  return { account: { ...next, revision: account.revision + 1n, updatedAt: now }, accountFields, settingsFields: [] };
}

/** Names an account to a reader who may not be its owner: its name, and a hint of its verified address. */
export function labelOf({ displayName, contactAddress, contactAddressVerified }: Account): string {
  const hint = contactAddress !== null && contactAddressVerified ? ` (${hintOf(contactAddress)})` : "";
  return `“${displayName}”${hint}`;
}
