import type { Tx } from "@signalbox/storage";
import { invalidateAccess } from "../access/access-announcements.ts";
import { type Account, scopesOfAccount } from "../accounts/account.ts";
import { canonicalAddress } from "../accounts/account-fields.ts";
import { type Actor, type RequestOrigin, recordInAudit } from "../audit/audit-log.ts";
import { digestLinkToken } from "../contacts/contact-link.ts";
import type { AccountService } from "../context/account-service.ts";
import { withRolesElsewhere } from "../identities/identities.ts";
import { joinAccount } from "../members/members.ts";
import { findMembershipOf } from "../members/membership-store.ts";
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

/** An account that accepts, and the request that it does so by. */
interface Accepting extends RequestOrigin {
  readonly accountId: string;
}

export type AcceptOutcome = { outcome: "accepted" | "blocked" | "other-address" | "ended" | "unknown" };

// Accepts invitations: with the account that a browser is signed in to, or by a new account.

/** Finds an invitation and who invites, without using it; `isOpen` is false once it cannot be accepted. */
export async function findInvitationOfLink(service: AccountService, token: string) {
  const invitation = await findInvitationByDigest(service.pool, digestLinkToken(token));
  const inviter = invitation && (await service.accountStore.find(invitation.accountId));
  return invitation && inviter && { invitation, inviter, isOpen: await isOpen(service, invitation, inviter) };
}

/** Adds the role to an existing account, or makes its person a member of the inviting one, by its holder's consent. */
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
  if (invitation.memberRole !== null && invitation.accountId === accountId) return { outcome: "blocked" };
  const by: Actor = { kind: "owner", accountId, credential: "invitation", ...from };
  if (invitation.memberRole === null) await grantRole(service, tx, account, invitation, by);
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

/** Notes that a locked invitation was accepted; the person of one into an account becomes its member. */
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
  const entry = { action: "invitation.accept", accountId, subject: invitation.id } as const;
  await recordInAudit(service, tx, by, { ...entry, fields: ["status"] });
  const { memberRole: role, inviterId: invitedBy } = invitation;
  if (role === null) {
    await service.outbox.append(tx, [invitationEvents.accepted(accepted, now)]);
    return;
  }
  const account = await service.accountStore.lock(tx, invitation.accountId);
  if (account) await joinAccount(service, tx, account, { memberId: accountId, role, invitedBy }, by);
}

async function canBeAccepted(service: AccountService, invitation: Invitation): Promise<boolean> {
  const inviter = await service.accountStore.find(invitation.accountId);
  if (inviter === null || !(await isOpen(service, invitation, inviter))) return false;
  return invitation.memberRole === null || isStillOwner(service, invitation);
}

/** An owner who has left the account invites nobody into it any more. */
async function isStillOwner({ pool }: AccountService, { accountId, inviterId }: Invitation): Promise<boolean> {
  if (inviterId === null || inviterId === accountId) return true;
  return (await findMembershipOf(pool, accountId, inviterId))?.role === "owner";
}

/** An administrator who has left, or has lost the role, invites nobody any more; an account invites while it is active. */
async function isOpen(service: AccountService, invitation: Invitation, inviter: Account): Promise<boolean> {
  const { clock, pool } = service;
  if (statusOfInvitation(invitation, clock.now()) !== "open" || inviter.status !== "active") return false;
  if (invitation.memberRole !== null) return true;
  const held = scopesOfAccount(inviter);
  const needed = ["account:admin" as const, ...scopesOfInvitation(invitation)];
  return needed.every((one) => held.has(one)) || (await withRolesElsewhere(service, pool, [inviter.id])).size > 0;
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
