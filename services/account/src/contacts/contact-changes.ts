import { type Caller, requireState } from "@signalbox/auth";
import { mayAccess } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import { type Account, stateOf } from "../accounts/account.ts";
import { accountChanged, accountContactVerified } from "../accounts/account-events.ts";
import type { ChangedAccount } from "../accounts/change-account.ts";
import { type AccountAction, type Actor, actorOf, systemActor } from "../audit/audit.ts";
import { codeRefusal, tooManyCodes } from "../codes/code-answers.ts";
import type { OneTimeCodes, RedeemOutcome } from "../codes/one-time-codes.ts";
import type { Identities } from "../identities/identities.ts";
import type { IssuedTokens } from "../oauth/issued-tokens.ts";
import type { Shared } from "../shared.ts";
import type { Statuses } from "../statuses/statuses.ts";
import type { StepUps } from "../step-up/step-ups.ts";
import { type ContactLink, digestLinkToken, isOpen } from "./contact-link.ts";
import type { ContactLinkStore } from "./contact-link-store.ts";
import { type ContactMailDependencies, createContactMails } from "./contact-mails.ts";
import { cancelPending, confirmPending, restoreContact } from "./contact-transitions.ts";

interface ContactDependencies
  extends ContactMailDependencies,
    Pick<Shared, "accounts" | "verifiedAddresses" | "auditRefusals" | "outbox" | "audit" | "clock"> {
  readonly contactLinks: ContactLinkStore;
  readonly oneTimeCodes: Pick<OneTimeCodes, "issue" | "redeem" | "end">;
  readonly identities: Pick<Identities, "list" | "wouldLockOut">;
  readonly stepUps: Pick<StepUps, "end">;
  readonly issuedTokens: Pick<IssuedTokens, "revokeSignIns">;
  readonly statuses: Pick<Statuses, "change">;
}

export type ContactChanges = ReturnType<typeof createContactChanges>;

export type ResendOutcome =
  | { outcome: "sent"; address: string; expiresAt: Date }
  | { outcome: "too-many" | "nothing-pending" };

export type ConfirmOutcome =
  | { outcome: "confirmed"; account: Account }
  | { outcome: Exclude<RedeemOutcome, "good"> | "nothing-pending" | "taken" };

export type LinkOutcome =
  | { outcome: "confirmed" | "taken" | "kept" | "blocked" | "ended"; account: Account }
  | { outcome: "not-signed-in"; account: Account; address: string }
  | { outcome: "unknown" };

/** The user of a link: address, request, and the account signed in to in the same browser. */
interface LinkUser extends Pick<Actor, "address" | "requestId"> {
  readonly signedInTo: string | null;
}

/**
 * The change of a contact address, from request to end. The new address is pending until its holder, signed in to the
 * account, confirms it with a code or a link. The holder of the address in use gets a notice and can object, even after
 * the confirmation. The owner can cancel a pending change. Callers pass locked accounts.
 */
export function createContactChanges(dependencies: ContactDependencies) {
  const { accounts, oneTimeCodes, auditRefusals, clock } = dependencies;
  const contactMails = createContactMails(dependencies);
  const parts = { ...dependencies, contactMails };

  return {
    /**
     * Starts the change that a write of `contact_address` requests: mails a confirmation to the new address and a
     * notice to the one in use.
     * @throws AppError `rate_limited` after five codes within the hour, `conflict` when the last login method would go.
     */
    async request(tx: Tx, before: Account, after: Account): Promise<void> {
      const [inUse, pending] = [before.contactAddress, after.pendingContactAddress];
      if (inUse !== null && after.contactAddress === null) return remove(parts, tx, before, after, inUse);
      if (pending === null || pending === before.pendingContactAddress) return;
      const asked = await contactMails.askToConfirm(tx, after, pending);
      if (asked === "too-many") throw tooManyCodes("contact_address");
      if (inUse !== null) await contactMails.tellOfRequest(tx, after, inUse, pending);
    },

    /** Mails another code and another link to the pending address, which end the earlier ones. */
    async resend(tx: Tx, account: Account): Promise<ResendOutcome> {
      requireState(stateOf(account), "own-account:write");
      const address = account.pendingContactAddress;
      if (address === null) return { outcome: "nothing-pending" };
      const asked = await contactMails.askToConfirm(tx, account, address);
      return asked === "too-many" ? { outcome: asked } : { outcome: "sent", address, expiresAt: asked.expiresAt };
    },

    /**
     * Puts the pending address in use by the code from the mail. The code is the proof: no recent sign-in is needed.
     */
    async confirm(tx: Tx, caller: Caller, account: Account, code: string): Promise<ConfirmOutcome> {
      requireState(stateOf(account), "own-account:write");
      if (account.pendingContactAddress === null) return { outcome: "nothing-pending" };
      const by = actorOf(caller);
      const redeemed = await oneTimeCodes.redeem(tx, { purpose: "contact", subject: account.id, code });
      if (redeemed === "good") return adoptIfFree(parts, tx, account, by);
      tx.afterCommit(() => auditRefusals.record(codeRefusal("account.contact_confirm", account.id, redeemed, by)));
      return { outcome: redeemed };
    },

    /** Drops the pending address; the one in use stays. Does nothing without a pending address. */
    async cancel(tx: Tx, caller: Caller, account: Account): Promise<Account> {
      requireState(stateOf(account), "own-account:write");
      const changed = cancelPending(account, clock.now());
      if (changed.accountFields.length === 0) return account;
      await accounts.save(tx, changed.account);
      await endConfirmation(parts, tx, account.id);
      await record(parts, tx, "account.contact_cancel", changed, actorOf(caller));
      return changed.account;
    },

    useLink: (tx: Tx, token: string, user: LinkUser): Promise<LinkOutcome> => useLink(parts, tx, token, user),
  };
}

interface Parts extends ContactDependencies {
  readonly contactMails: ReturnType<typeof createContactMails>;
}

/**
 * Uses a link from a mail: confirms the pending address of the account that its user is signed in to, or objects to a
 * change, which needs no sign-in.
 */
async function useLink(parts: Parts, tx: Tx, token: string, { signedInTo, ...from }: LinkUser): Promise<LinkOutcome> {
  const { account, link } = await lockLink(parts, tx, token);
  if (!account || !link) return { outcome: "unknown" };
  if (!isOpen(link, parts.clock.now())) return { outcome: "ended", account };
  const { kind, address } = link;
  if (kind === "confirm" && signedInTo !== account.id) return { outcome: "not-signed-in", account, address };
  const by: Actor = { kind: "owner", accountId: account.id, credential: "contact-link", ...from };
  return linkUses[kind](parts, tx, account, link, by);
}

/** Removes the address in use. Its holder can object; a pending address is dropped too. */
async function remove(parts: Parts, tx: Tx, before: Account, after: Account, address: string): Promise<void> {
  const { identities, contactMails } = parts;
  const logins = await identities.list(before.id, tx);
  // Refused here, because owners who sign in with this address would notice the lockout too late.
  const wasLockedOut = await identities.wouldLockOut(tx, before, logins);
  if (!wasLockedOut && (await identities.wouldLockOut(tx, after, logins))) throw lastLoginMethod();
  await endConfirmation(parts, tx, after.id);
  await contactMails.tellOfRemoval(tx, after, address);
}

function lastLoginMethod(): AppError {
  const message =
    "This address is the last login method of the account. Change it instead, or create an API key with account:security first.";
  return new AppError("conflict", message, { details: [{ field: "contact_address", code: "last_way_in", message }] });
}

/** Finds a link and locks its account. */
async function lockLink({ accounts, contactLinks }: Parts, tx: Tx, token: string) {
  const digest = digestLinkToken(token);
  const accountId = (await contactLinks.find(digest, tx))?.accountId;
  const account = accountId === undefined ? null : await accounts.lock(tx, accountId);
  // Read again under the lock: of two simultaneous uses the second one sees that the link was used.
  return { account, link: await contactLinks.find(digest, tx) };
}

async function confirmByLink(
  parts: Parts,
  tx: Tx,
  account: Account,
  link: ContactLink,
  by: Actor,
): Promise<LinkOutcome> {
  if (link.address !== account.pendingContactAddress) return { outcome: "ended", account };
  if (!mayAccess(account.status, "own-account:write")) return { outcome: "blocked", account };
  const confirmed = await adoptIfFree(parts, tx, account, by);
  return { ...confirmed, account: confirmed.outcome === "confirmed" ? confirmed.account : account };
}

/** Only a reader of the mailbox gets here, so only they learn that another account has verified the address. */
async function adoptIfFree(
  parts: Parts,
  tx: Tx,
  account: Account,
  by: Actor,
): Promise<{ outcome: "confirmed"; account: Account } | { outcome: "taken" }> {
  const { verifiedAddresses, auditRefusals } = parts;
  const holder = await verifiedAddresses.holderOf(tx, account.pendingContactAddress ?? "", account.id);
  if (holder === null) return { outcome: "confirmed", account: await adopt(parts, tx, account, by) };
  const operation = "account.contact_confirm";
  const refusal = { accountId: account.id, operation, reason: "address_taken", fields: ["contact_address"], by };
  tx.afterCommit(() => auditRefusals.record(refusal));
  return { outcome: "taken" };
}

/** Puts the pending address in use and mails the replaced one. */
async function adopt(parts: Parts, tx: Tx, account: Account, by: Actor): Promise<Account> {
  const { accounts, statuses, contactMails, outbox, clock } = parts;
  const changed = confirmPending(account, clock.now());
  const [before, now] = [account.contactAddress, changed.account.contactAddress];
  await outbox.append(tx, [accountContactVerified(changed)]);
  await record(parts, tx, "account.contact_confirm", changed, by);
  await endConfirmation(parts, tx, account.id);
  if (before !== null && now !== null && before !== now) {
    await contactMails.tellOfReplacement(tx, changed.account, before, now);
  }
  if (account.status === "pending") {
    // A pending account waits for its first confirmed address.
    const activated = await statuses.change(tx, systemActor("contact"), changed.account, {
      to: "active",
      reason: null,
    });
    if (activated.outcome === "changed") return activated.account;
  }
  await accounts.save(tx, changed.account);
  return changed.account;
}

/**
 * Keeps the link's address in use, or puts it in use again despite later changes. The earliest holder wins: an
 * objection ends those of later holders, so a thief who changed the address twice cannot object back.
 */
async function object(parts: Parts, tx: Tx, account: Account, link: ContactLink, by: Actor): Promise<LinkOutcome> {
  if (account.status === "deleted") return { outcome: "ended", account };
  const { contactLinks, verifiedAddresses, clock } = parts;
  const now = clock.now();
  // Takes the address from an account that verified it later, such as one created by a sign-in with it meanwhile.
  await verifiedAddresses.takeBack(tx, link.address, account.id);
  await contactLinks.markUsed(tx, link, now);
  await contactLinks.endLaterObjections(tx, link, now);
  await endConfirmation(parts, tx, account.id);
  const changed = restoreContact(account, link.address, now);
  await record(parts, tx, "account.contact_object", changed, by);
  if (changed.accountFields.length === 0) return { outcome: "kept", account };
  return { outcome: "kept", account: await endNewHolder(parts, tx, account, changed.account) };
}

/** Mails the losing address, and ends what its holder may have proven: sign-ins, and step-ups by codes sent there. */
async function endNewHolder(parts: Parts, tx: Tx, before: Account, restored: Account): Promise<Account> {
  const { accounts, contactMails, issuedTokens, stepUps } = parts;
  const wasReplaced = before.contactAddress !== restored.contactAddress;
  const loser = wasReplaced ? before.contactAddress : before.pendingContactAddress;
  if (loser !== null) await contactMails.tellOfObjection(tx, before, loser);
  if (wasReplaced) await issuedTokens.revokeSignIns(tx, before.id);
  const kept = wasReplaced ? await stepUps.end(tx, restored) : restored;
  await accounts.save(tx, kept);
  return kept;
}

/** The use of each kind of link. */
const linkUses = { confirm: confirmByLink, object };

/** Records the change in the audit and the outbox. */
async function record({ audit, outbox }: Parts, tx: Tx, action: AccountAction, changed: ChangedAccount, by: Actor) {
  const { account, accountFields: fields } = changed;
  await audit.record(tx, by, { action, accountId: account.id, fields });
  await outbox.append(tx, accountChanged(changed));
}

/** Ends the code and the links that could confirm the pending address. */
async function endConfirmation({ oneTimeCodes, contactLinks, clock }: Parts, tx: Tx, accountId: string): Promise<void> {
  await oneTimeCodes.end(tx, { purpose: "contact", subject: accountId });
  await contactLinks.endConfirmations(tx, accountId, clock.now());
}
