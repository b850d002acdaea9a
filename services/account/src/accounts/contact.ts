import { hintOf } from "../codes/code-answers.ts";
import type { Account } from "./account.ts";
import { type ChangedAccount, changedAccount } from "./change-account.ts";

/** A change of the address that is refused: a sixth mail within the hour, or the removal of the last login method. */
export type RefusedContact = { readonly outcome: "too-many" | "last-way-in" };

/** Puts the pending address in use, verified. */
export const confirmPending = (account: Account, now: Date): ChangedAccount =>
  changedAccount(account, { ...account, ...inUse(account.pendingContactAddress) }, now);

/** Drops the pending address. */
export const cancelPending = (account: Account, now: Date): ChangedAccount =>
  changedAccount(account, { ...account, pendingContactAddress: null }, now);

/** Puts the address of an earlier holder in use again, despite later changes. */
export const restoreContact = (account: Account, address: string, now: Date): ChangedAccount =>
  changedAccount(account, { ...account, ...inUse(address) }, now);

/**
 * Removes the verification of the address in use, which another account has verified. The address becomes pending, so
 * its owner can ask for a code once the other account has given it up.
 */
export function loseVerification(account: Account, now: Date): ChangedAccount {
  const pendingContactAddress = account.pendingContactAddress ?? account.contactAddress;
  return changedAccount(account, { ...account, contactAddressVerified: false, pendingContactAddress }, now);
}

/** The members of an account whose address is verified and the only one. */
const inUse = (address: string | null) => ({
  contactAddress: address,
  contactAddressVerified: address !== null,
  pendingContactAddress: null,
});

/** Names an account to a reader who may not be its owner: its name, and a hint of its verified address. */
export function labelOf({ displayName, contactAddress, contactAddressVerified }: Account): string {
  const hint = contactAddress !== null && contactAddressVerified ? ` (${hintOf(contactAddress)})` : "";
  return `“${displayName}”${hint}`;
}
