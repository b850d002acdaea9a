import { type Caller, requireState } from "@signalbox/auth";
import { mayAccess } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { AuditRefusals } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { type Account, stateOf } from "../accounts/account.ts";
import type { AccountRecords } from "../accounts/account-events.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { cancelPending, confirmPending, type RefusedContact } from "../accounts/contact.ts";
import { type Actor, actorOf, systemActor } from "../audit/audit-log.ts";
import { codeRefusal, type RefusedCode, type SentTo } from "../codes/code-answers.ts";
import type { Identities } from "../identities/identities.ts";
import type { StatusTransitions } from "../statuses/change-status.ts";
import type { ContactLink } from "./contact-link.ts";
import type { ContactMails } from "./contact-mails.ts";
import type { VerifiedAddresses } from "./verified-addresses.ts";

interface ContactDependencies {
  readonly accountStore: Pick<AccountStore, "save">;
  readonly accountRecords: Pick<AccountRecords, "changed">;
  readonly identities: Pick<Identities, "list" | "wouldLockOut">;
  readonly contactMails: Omit<ContactMails, "redeem" | "tellOfReplacement" | "tellOfObjection">;
  readonly clock: Clock;
}

type ResendOutcome = ({ outcome: "sent" } & SentTo) | { outcome: "too-many" } | { outcome: "nothing-pending" };

export type ContactChanges = ReturnType<typeof createContactChanges>;

/**
 * The change of a contact address by its owner. The new address is pending until its holder confirms it
 * with a mailed code or link. The holder of the address in use gets a notice and can object, even after that
 * (`contact-links.ts`). The owner can cancel a pending change. Callers pass locked accounts.
 */
export function createContactChanges(dependencies: ContactDependencies) {
  const { accountStore, accountRecords, identities, contactMails, clock } = dependencies;

  return {
    /**
     * Starts the change that a write of `contact_address` requests: mails a confirmation to the new address and a
     * notice to the one in use. Refuses a sixth code within the hour, and to remove the last login method.
     */
    async request(tx: Tx, before: Account, after: Account): Promise<RefusedContact | null> {
      const [inUse, pending] = [before.contactAddress, after.pendingContactAddress];
      if (inUse !== null && after.contactAddress === null) return remove(tx, before, after, inUse);
      if (pending === null || pending === before.pendingContactAddress) return null;
      const asked = await contactMails.askToConfirm(tx, after, pending);
      if (asked === "too-many") return { outcome: asked };
      if (inUse !== null) await contactMails.tellOfRequest(tx, after, inUse, pending);
      return null;
    },

    /** Mails another code and another link to the pending address, which end the earlier ones. */
    async resend(tx: Tx, account: Account): Promise<ResendOutcome> {
      requireState(stateOf(account), "own-account:write");
      const address = account.pendingContactAddress;
      if (address === null) return { outcome: "nothing-pending" };
      const asked = await contactMails.askToConfirm(tx, account, address);
      return asked === "too-many" ? { outcome: asked } : { outcome: "sent", address, expiresAt: asked.expiresAt };
    },

    /** Drops the pending address; the one in use stays. Does nothing without a pending address. */
    async cancel(tx: Tx, caller: Caller, account: Account): Promise<Account> {
      requireState(stateOf(account), "own-account:write");
      const changed = cancelPending(account, clock.now());
      if (changed.accountFields.length === 0) return account;
      await accountStore.save(tx, changed.account);
      await contactMails.endConfirmation(tx, account);
      await accountRecords.changed(tx, caller, "account.contact_cancel", changed);
      return changed.account;
    },
  };

  /** Removes the address in use. Its holder can object; a pending address is dropped too. */
  async function remove(tx: Tx, before: Account, after: Account, address: string): Promise<RefusedContact | null> {
    const logins = await identities.list(before.id, tx);
    // Refused here, because owners who sign in with this address would notice the lockout too late.
    const wasLockedOut = await identities.wouldLockOut(tx, before, logins);
    if (!wasLockedOut && (await identities.wouldLockOut(tx, after, logins))) return { outcome: "last-way-in" };
    await contactMails.endConfirmation(tx, after);
    await contactMails.tellOfRemoval(tx, after, address);
    return null;
  }
}

interface ConfirmationDependencies {
  readonly accountStore: Pick<AccountStore, "save">;
  readonly accountRecords: AccountRecords;
  readonly verifiedAddresses: Pick<VerifiedAddresses, "holderOf">;
  readonly statusTransitions: StatusTransitions;
  readonly contactMails: Pick<ContactMails, "redeem" | "endConfirmation" | "tellOfReplacement">;
  readonly auditRefusals: Pick<AuditRefusals, "record">;
  readonly clock: Clock;
}

type Adoption = { outcome: "confirmed"; account: Account } | { outcome: "taken" };

export type ContactConfirmations = ReturnType<typeof createContactConfirmations>;

/** The confirmation of a pending contact address by its holder. Callers pass locked accounts. */
export function createContactConfirmations(dependencies: ConfirmationDependencies) {
  const { verifiedAddresses, contactMails, auditRefusals } = dependencies;

  return {
    /**
     * Puts the pending address in use by the code from the mail. The code is the proof: no recent sign-in is needed.
     */
    async byCode(
      tx: Tx,
      caller: Caller,
      account: Account,
      code: string,
    ): Promise<Adoption | { outcome: RefusedCode | "nothing-pending" }> {
      requireState(stateOf(account), "own-account:write");
      if (account.pendingContactAddress === null) return { outcome: "nothing-pending" };
      const by = actorOf(caller);
      const redeemed = await contactMails.redeem(tx, account, code);
      if (redeemed === "good") return adoptIfFree(tx, account, by);
      auditRefusals.record(codeRefusal("account.contact_confirm", account.id, redeemed, by));
      return { outcome: redeemed };
    },

    /** Puts the pending address in use by a link, which its owner follows. */
    async byLink(
      tx: Tx,
      account: Account,
      link: ContactLink,
      by: Actor,
    ): Promise<Adoption | { outcome: "ended" | "blocked" }> {
      if (link.address !== account.pendingContactAddress) return { outcome: "ended" };
      if (!mayAccess(account.status, "own-account:write")) return { outcome: "blocked" };
      return adoptIfFree(tx, account, by);
    },
  };

  /** Only a reader of the mailbox gets here, so only they learn that another account has verified the address. */
  async function adoptIfFree(tx: Tx, account: Account, by: Actor): Promise<Adoption> {
    const holder = await verifiedAddresses.holderOf(tx, account.pendingContactAddress ?? "", account.id);
    if (holder === null) return { outcome: "confirmed", account: await adopt(tx, account, by, dependencies) };
    const operation = "account.contact_confirm";
    auditRefusals.record({
      accountId: account.id,
      operation,
      reason: "address_taken",
      fields: ["contact_address"],
      by,
    });
    return { outcome: "taken" };
  }
}

/** Puts the pending address in use and mails the replaced one. */
async function adopt(
  tx: Tx,
  account: Account,
  by: Actor,
  { accountStore, accountRecords, contactMails, statusTransitions, clock }: ConfirmationDependencies,
): Promise<Account> {
  const changed = confirmPending(account, clock.now());
  const [before, now] = [account.contactAddress, changed.account.contactAddress];
  await accountRecords.verified(tx, changed);
  await accountRecords.changed(tx, by, "account.contact_confirm", changed);
  await contactMails.endConfirmation(tx, account);
  if (before !== null && now !== null && before !== now) {
    await contactMails.tellOfReplacement(tx, changed.account, before, now);
  }
  if (account.status === "pending") {
    // A pending account waits for its first confirmed address.
    const wanted = { to: "active", reason: null } as const;
    const activated = await statusTransitions.move(tx, systemActor("contact"), changed.account, wanted);
    if (activated.outcome === "changed") return activated.account;
  }
  await accountStore.save(tx, changed.account);
  return changed.account;
}
