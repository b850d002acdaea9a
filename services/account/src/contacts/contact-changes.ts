import { type Caller, requireState } from "@signalbox/auth";
import { mayAccess } from "@signalbox/contracts";
import { advisoryLock, type Tx } from "@signalbox/storage";
import { type Account, stateOf } from "../accounts/account.ts";
import { accountContactVerified } from "../accounts/account-events.ts";
import { canonicalAddress } from "../accounts/account-fields.ts";
import { holderOfAddress } from "../accounts/account-store.ts";
import { cancelPending, confirmPending, type RefusedContact } from "../accounts/contact.ts";
import { type AccountAction, type Actor, actorOf, recordAccountChange, systemActor } from "../audit/audit-log.ts";
import { codeRefusal, type RefusedCode, type SentTo } from "../codes/code-answers.ts";
import type { AccountService } from "../context/account-service.ts";
import { wouldLockOut } from "../identities/identities.ts";
import { identitiesOf } from "../identities/identity.ts";
import { queueNotice } from "../notices/notices.ts";
import { moveStatus } from "../statuses/change-status.ts";
import type { ContactLink } from "./contact-link.ts";
import {
  askToConfirmContact,
  endContactConfirmation,
  redeemContactCode,
  tellOfContactChange,
} from "./contact-mails.ts";

type ResendOutcome = ({ outcome: "sent" } & SentTo) | { outcome: "too-many" } | { outcome: "nothing-pending" };

// The change of a contact address by its owner. The new address is pending until its holder confirms it with a mailed
// code or link. The holder of the address in use gets a notice and can object, even after that (`contact-links.ts`).
// The owner can cancel a pending change. Callers pass locked accounts.

/**
 * Starts the change that a write of `contact_address` requests: mails a confirmation to the new address and a
 * notice to the one in use. Refuses a sixth code within the hour, and to remove the last login method.
 */
export async function requestContactChange(
  service: AccountService,
  tx: Tx,
  before: Account,
  after: Account,
): Promise<RefusedContact | null> {
  const [inUse, pending] = [before.contactAddress, after.pendingContactAddress];
  if (inUse !== null && after.contactAddress === null) return removeContact(service, tx, before, after, inUse);
  if (pending === null || pending === before.pendingContactAddress) return null;
  const asked = await askToConfirmContact(service, tx, after, pending);
  if (asked === "too-many") return { outcome: asked };
  const change = { kind: "contact-change-requested", newAddress: pending } as const;
  if (inUse !== null) await tellOfContactChange(service, tx, after, inUse, change);
  return null;
}

/** Mails another code and another link to the pending address, which end the earlier ones. */
export async function resendContactCode(service: AccountService, tx: Tx, account: Account): Promise<ResendOutcome> {
  requireState(stateOf(account), "own-account:write");
  const address = account.pendingContactAddress;
  if (address === null) return { outcome: "nothing-pending" };
  const asked = await askToConfirmContact(service, tx, account, address);
  return asked === "too-many" ? { outcome: asked } : { outcome: "sent", address, expiresAt: asked.expiresAt };
}

/** Drops the pending address; the one in use stays. Does nothing without a pending address. */
export async function cancelContactChange(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
): Promise<Account> {
  requireState(stateOf(account), "own-account:write");
  const changed = cancelPending(account, service.clock.now());
  if (changed.accountFields.length === 0) return account;
  await service.accountStore.save(tx, changed.account);
  await endContactConfirmation(service, tx, account);
  await recordAccountChange(service, tx, caller, "account.contact_cancel", changed);
  return changed.account;
}

/** Removes the address in use. Its holder can object; a pending address is dropped too. */
async function removeContact(
  service: AccountService,
  tx: Tx,
  before: Account,
  after: Account,
  address: string,
): Promise<RefusedContact | null> {
  const logins = await identitiesOf(tx, before.id);
  // Refused here, because owners who sign in with this address would notice the lockout too late.
  const wasLockedOut = await wouldLockOut(service, tx, before, logins);
  if (!wasLockedOut && (await wouldLockOut(service, tx, after, logins))) return { outcome: "last-way-in" };
  await endContactConfirmation(service, tx, after);
  await tellOfContactChange(service, tx, after, address, { kind: "contact-cleared" });
  return null;
}

type Adoption = { outcome: "confirmed"; account: Account } | { outcome: "taken" };

// The confirmation of a pending contact address by its holder. Callers pass locked accounts.

/**
 * Puts the pending address in use by the code from the mail. The code is the proof: no recent sign-in is needed.
 */
export async function confirmContactByCode(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  code: string,
): Promise<Adoption | { outcome: RefusedCode | "nothing-pending" }> {
  requireState(stateOf(account), "own-account:write");
  if (account.pendingContactAddress === null) return { outcome: "nothing-pending" };
  const by = actorOf(caller);
  const redeemed = await redeemContactCode(service, tx, account, code);
  if (redeemed === "good") return adoptIfFree(service, tx, account, by);
  service.auditRefusals.record(codeRefusal("account.contact_confirm", account.id, redeemed, by));
  return { outcome: redeemed };
}

/** Puts the pending address in use by a link, which its owner follows. */
export async function confirmContactByLink(
  service: AccountService,
  tx: Tx,
  account: Account,
  link: ContactLink,
  by: Actor,
): Promise<Adoption | { outcome: "ended" | "blocked" }> {
  if (link.address !== account.pendingContactAddress) return { outcome: "ended" };
  if (!mayAccess(account.status, "own-account:write")) return { outcome: "blocked" };
  return adoptIfFree(service, tx, account, by);
}

/** Only a reader of the mailbox gets here, so only they learn that another account has verified the address. */
async function adoptIfFree(service: AccountService, tx: Tx, account: Account, by: Actor): Promise<Adoption> {
  const holder = await holderOfAddress(tx, account.pendingContactAddress ?? "", account.id);
  if (holder === null) return { outcome: "confirmed", account: await adopt(service, tx, account, by) };
  const refusal = { operation: "account.contact_confirm", reason: "address_taken", fields: ["contact_address"] };
  service.auditRefusals.record({ accountId: account.id, ...refusal, by });
  return { outcome: "taken" };
}

type SetOutcome = { outcome: "changed"; account: Account } | { outcome: "taken" | "deleted" };

/**
 * Puts an address in use for which an administrator vouches. The replaced one gets a notice and can object, the new one
 * gets a notice.
 */
export async function setContactByAdministrator(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  { address, reason }: { readonly address: string; readonly reason: string },
): Promise<SetOutcome> {
  if (account.status === "deleted") return { outcome: "deleted" };
  if (account.contactAddress === address && account.contactAddressVerified) return { outcome: "changed", account };
  // A first sign-in with the address would make an account of its own.
  await advisoryLock(tx, `sign-in to ${canonicalAddress(address)}`);
  if ((await holderOfAddress(tx, address, account.id)) !== null) return { outcome: "taken" };
  const wanted = { ...account, pendingContactAddress: address };
  const by = actorOf(caller, "administrator");
  const set = await adopt(service, tx, wanted, by, { action: "account.contact_set", reason });
  await queueNotice(service, tx, set, { kind: "contact-set" });
  return { outcome: "changed", account: set };
}

interface AdoptionEntry {
  readonly action: AccountAction;
  readonly reason: string | null;
}

const confirmation: AdoptionEntry = { action: "account.contact_confirm", reason: null };

/** Puts the pending address in use and mails the replaced one. */
async function adopt(
  service: AccountService,
  tx: Tx,
  account: Account,
  by: Actor,
  { action, reason } = confirmation,
): Promise<Account> {
  const changed = confirmPending(account, service.clock.now());
  const [before, now] = [account.contactAddress, changed.account.contactAddress];
  await service.outbox.append(tx, [accountContactVerified(changed)]);
  await recordAccountChange(service, tx, by, action, changed, reason);
  await endContactConfirmation(service, tx, account);
  if (before !== null && now !== null && before !== now) {
    const change = { kind: "contact-changed", newAddress: now } as const;
    await tellOfContactChange(service, tx, changed.account, before, change);
  }
  if (account.status === "pending") {
    // A pending account waits for its first confirmed address.
    const wanted = { to: "active", reason: null } as const;
    const activated = await moveStatus(service, tx, systemActor("contact"), changed.account, wanted);
    if (activated.outcome === "changed") return activated.account;
  }
  await service.accountStore.save(tx, changed.account);
  return changed.account;
}
