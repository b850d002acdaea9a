import type { Tx } from "@signalbox/storage";
import { invalidateAccess } from "../access/access-announcements.ts";
import { type Account, scopesOfAccount } from "../accounts/account.ts";
import { canonicalAddress } from "../accounts/account-fields.ts";
import { type Actor, type RequestOrigin, recordInAudit } from "../audit/audit-log.ts";
import { digestLinkToken } from "../contacts/contact-link.ts";
import type { AccountService } from "../context/account-service.ts";
import {
  grantOfExisting,
  type Invitation,
  invitationEvents,
  isFor,
  scopesOfInvitation,
  statusOfInvitation,
} from "./invitation.ts";
import {
  findInvitationByDigest,
  lockInvitationByDigest,
  lockOpenInvitationTo,
  saveInvitation,
} from "./invitation-store.ts";

/** An invitation as its reader sees it, with the account that invites. */
interface FoundInvitation {
  readonly invitation: Invitation;
  readonly inviter: Account;
}

/** An account that accepts, and the request that it does so by. */
export interface Accepting extends RequestOrigin {
  readonly accountId: string;
}

export type AcceptOutcome = { outcome: "accepted" | "blocked" | "other-address" | "ended" | "unknown" };

// Accepts invitations: with the account that a browser is signed in to, or by a new account.

/** Finds an invitation without using it; `isOpen` is false for one that can no longer be accepted. */
export async function findInvitationOfLink(
  service: AccountService,
  token: string,
): Promise<(FoundInvitation & { readonly isOpen: boolean }) | null> {
  const invitation = await findInvitationByDigest(service.pool, digestLinkToken(token));
  const inviter = invitation && (await service.accountStore.find(invitation.accountId));
  return invitation && inviter && { invitation, inviter, isOpen: isOpen(service, invitation, inviter) };
}

/** Adds the role to an existing account, by its holder's consent. */
export async function acceptInvitation(
  service: AccountService,
  tx: Tx,
  token: string,
  { accountId, ...from }: Accepting,
): Promise<AcceptOutcome> {
  const account = await service.accountStore.lock(tx, accountId);
  const invitation = await lockInvitationByDigest(tx, digestLinkToken(token));
  if (!invitation || !account) return { outcome: "unknown" };
  if (!(await canBeAccepted(service, invitation))) return { outcome: "ended" };
  if (account.status !== "active") return { outcome: "blocked" };
  if (!isFor(invitation, account)) return { outcome: "other-address" };
  const by: Actor = { kind: "owner", accountId, credential: "invitation", ...from };
  await grantRole(service, tx, account, invitation, by);
  await recordAcceptance(service, tx, invitation, accountId, by);
  return { outcome: "accepted" };
}

/** Locks the invitation of a link for a person who holds `address`; null when it cannot be accepted with it. */
export async function lockInvitationFor(
  service: AccountService,
  tx: Tx,
  token: string,
  address: string,
): Promise<Invitation | null> {
  const invitation = await lockInvitationByDigest(tx, digestLinkToken(token));
  const invited = invitation?.canonicalAddress ?? null;
  if (!invitation || (invited !== null && invited !== canonicalAddress(address))) return null;
  return (await canBeAccepted(service, invitation)) ? invitation : null;
}

/** Locks the open invitation to an address; null without one. */
export async function lockInvitationTo(service: AccountService, tx: Tx, address: string): Promise<Invitation | null> {
  const invitation = await lockOpenInvitationTo(tx, canonicalAddress(address), service.clock.now());
  return invitation && (await canBeAccepted(service, invitation)) ? invitation : null;
}

/** Notes that a locked invitation was accepted. */
export async function recordAcceptance(
  service: AccountService,
  tx: Tx,
  invitation: Invitation,
  accountId: string,
  by: Actor,
): Promise<void> {
  const now = service.clock.now();
  const accepted = { ...invitation, acceptedAt: now, acceptedBy: accountId };
  await saveInvitation(tx, accepted);
  await recordInAudit(service, tx, by, {
    action: "invitation.accept",
    accountId,
    subject: invitation.id,
    fields: ["status"],
  });
  await service.outbox.append(tx, [invitationEvents.accepted(accepted, now)]);
}

async function canBeAccepted(service: AccountService, invitation: Invitation): Promise<boolean> {
  const inviter = await service.accountStore.find(invitation.accountId);
  return inviter !== null && isOpen(service, invitation, inviter);
}

/** An administrator who has left, or has lost the role, invites nobody any more. */
function isOpen({ clock, hasIssuer }: AccountService, invitation: Invitation, inviter: Account): boolean {
  if (statusOfInvitation(invitation, clock.now()) !== "open" || inviter.status !== "active") return false;
  const held = scopesOfAccount(inviter);
  return !hasIssuer || ["account:admin" as const, ...scopesOfInvitation(invitation)].every((one) => held.has(one));
}

/** Adds the role of an invitation to an existing account, whose credentials every service then looks up again. */
async function grantRole(
  service: AccountService,
  tx: Tx,
  account: Account,
  invitation: Invitation,
  by: Actor,
): Promise<void> {
  const granted = grantOfExisting(account, invitation);
  if (granted.roles.length === account.roles.length && same(granted.scopesMax, account.scopesMax)) return;
  await service.accountStore.save(tx, await invalidateAccess(service, tx, { ...account, ...granted }));
  const change = { action: "account.grant_role", fields: ["roles"], reason: invitation.role } as const;
  await recordInAudit(service, tx, by, { ...change, accountId: account.id });
}

const same = (one: readonly string[], other: readonly string[]): boolean => one.join(" ") === other.join(" ");
