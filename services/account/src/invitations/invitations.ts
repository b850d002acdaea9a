import { type Caller, personOf, requireScopes } from "@signalbox/auth";
import { isMemberRole, isRole, type Scope, scopesOfRole } from "@signalbox/contracts";
import { hours } from "@signalbox/core";
import { advisoryLock, type Tx } from "@signalbox/storage";
import { type Actor, actorOf, recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { membersMax, scopesOfMemberIn } from "../members/members.ts";
import { countMembersOf } from "../members/membership-store.ts";
import {
  faultOfEnd,
  type Invitation,
  invitationEvents,
  invitationsPath,
  type NewInvitation,
  newLink,
  renewed,
  scopesOfInvitation,
  startInvitation,
  statusOfInvitation,
} from "./invitation.ts";
import {
  countInvitationMailsTo,
  countInvitationsOf,
  insertInvitation,
  lockOpenInvitationTo,
  saveInvitation,
} from "./invitation-store.ts";

type LimitOutcome = { outcome: "limit-reached"; max: number } | { outcome: "address-limit" };

/** The invitation, and its link where nobody mails it. */
export interface SentInvitation {
  readonly outcome: "sent";
  readonly invitation: Invitation;
  readonly url: string | null;
}

type InviteOutcome =
  | SentInvitation
  | LimitOutcome
  | { outcome: "invalid-end"; why: "passed" | "too_big" }
  | { outcome: "beyond-role"; scopes: readonly string[] }
  | { outcome: "already-invited"; id: string }
  | { outcome: "other-account" | "no-bound" | "role-needed" | "other-role" }
  | { outcome: "members-limit"; max: number }
  | { outcome: "closed" | "roles-by-issuer" | "address-needed" | "no-issuer" };

type ResendOutcome = SentInvitation | LimitOutcome | { outcome: "ended"; status: string };

/** Invitation mails to one address in a day, by all accounts together. */
const mailsToAddressMax = 5;

// Invitations, by administrators to this deployment and by owners into their account: made, sent again, revoked.

/**
 * Invites a person with no more permissions than the caller has, by mail or by a link. @throws AppError `forbidden`
 * without `account:admin`, or `account:security` for one into the account
 */
export async function createInvitation(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  wanted: NewInvitation,
): Promise<InviteOutcome> {
  const { clock, configuration, outbox } = service;
  requireScopes(caller, [wanted.account_id === null ? "account:admin" : "account:security"]);
  const now = clock.now();
  const fault = wanted.account_id === null ? judge(service, wanted, now) : judgeOfMember(service, caller, wanted, now);
  if (fault) return fault;
  const { token, digest } = newLink();
  const from = { accountId: caller.accountId, inviterId: personOf(caller) };
  const invitation = startInvitation(wanted, { ...from, digest, locale: configuration.get("defaults.locale"), now });
  requireScopes(caller, await scopesToGive(service, invitation));
  const refused = await judgeAddress(service, tx, invitation, now);
  if (refused) return refused;
  await insertInvitation(tx, invitation);
  const fields = ["address", "name", "role", "scopes_max", "expires_at"];
  await recordInvitation(service, tx, caller, "invitation.create", invitation, fields);
  const isOfMember = invitation.memberRole !== null;
  const { created, memberInvited } = invitationEvents;
  await outbox.append(tx, [isOfMember ? memberInvited(invitation) : created(invitation, now)]);
  return send(service, tx, invitation, token);
}

/** Sends an open or expired invitation again. The earlier link ends. */
export async function resendInvitation(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  invitation: Invitation,
): Promise<ResendOutcome> {
  const now = service.clock.now();
  const status = statusOfInvitation(invitation, now);
  if (status === "accepted" || status === "revoked") return { outcome: "ended", status };
  requireScopes(caller, await scopesToGive(service, invitation));
  const accountId = invitation.memberRole === null ? caller.accountId : invitation.accountId;
  const limit = await reachedLimit(service, tx, { ...invitation, accountId }, now);
  if (limit) return limit;
  const { token, digest } = newLink();
  const next = renewed(invitation, digest, now);
  await saveInvitation(tx, next);
  await recordInvitation(service, tx, caller, "invitation.resend", next, ["expires_at"]);
  return send(service, tx, next, token);
}

/** Revokes an invitation that nobody has accepted; one that has ended stays as it is. */
export async function revokeInvitation(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  invitation: Invitation,
): Promise<Invitation> {
  if (invitation.acceptedAt !== null || invitation.revokedAt !== null) return invitation;
  const now = service.clock.now();
  const revoked = { ...invitation, revokedAt: now };
  await saveInvitation(tx, revoked);
  await recordInvitation(service, tx, caller, "invitation.revoke", revoked, ["status"]);
  if (invitation.memberRole === null) await service.outbox.append(tx, [invitationEvents.revoked(revoked, now)]);
  return revoked;
}

async function recordInvitation(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  action: `invitation.${"create" | "resend" | "revoke"}`,
  { id: subject, memberRole, accountId: inviting }: Invitation,
  fields: string[],
) {
  // An administrator may end the invitation of an owner.
  const isOwner = memberRole !== null && inviting === caller.accountId;
  const by: Actor = actorOf(caller, isOwner ? "owner" : "administrator");
  const accountId = memberRole === null ? caller.accountId : inviting;
  await recordInAudit(service, tx, by, { action, accountId, subject, fields });
}

/** The scopes that the invitation brings, which the inviting caller needs too. */
async function scopesToGive({ accountStore }: AccountService, invitation: Invitation): Promise<readonly Scope[]> {
  const { memberRole, accountId } = invitation;
  if (memberRole === null) return scopesOfInvitation(invitation);
  const account = await accountStore.find(accountId);
  return account ? scopesOfMemberIn(account, memberRole) : [];
}

/** Judges an invitation into an account, which brings a role there and nothing here. */
function judgeOfMember(
  { hasIssuer }: AccountService,
  { accountId }: Caller,
  wanted: NewInvitation,
  now: Date,
): InviteOutcome | null {
  if (wanted.account_id !== "mine" && wanted.account_id !== accountId) return { outcome: "other-account" };
  if (!hasIssuer) return { outcome: "no-issuer" };
  if (wanted.role === undefined) return { outcome: "role-needed" };
  if (!isMemberRole(wanted.role)) return { outcome: "other-role" };
  if (wanted.scopes_max !== null) return { outcome: "no-bound" };
  const why = faultOfEnd(wanted.expires_at, now);
  return why === null ? null : { outcome: "invalid-end", why };
}

function judge({ hasIssuer, configuration }: AccountService, wanted: NewInvitation, now: Date): InviteOutcome | null {
  const { role = "owner" } = wanted;
  if (!isRole(role)) return { outcome: "other-role" };
  if (hasIssuer && configuration.get("account.registration") === "closed") return { outcome: "closed" };
  if (!hasIssuer && role !== "owner") return { outcome: "roles-by-issuer" };
  if (!hasIssuer && wanted.address === null) return { outcome: "address-needed" };
  const why = faultOfEnd(wanted.expires_at, now);
  if (why !== null) return { outcome: "invalid-end", why };
  const brought = scopesOfRole(role);
  const beyond = (wanted.scopes_max ?? []).filter((scope) => !brought.includes(scope));
  return beyond.length > 0 ? { outcome: "beyond-role", scopes: beyond } : null;
}

/** Refuses an invitation beyond a limit, or a second one to the same address. */
async function judgeAddress(
  service: AccountService,
  tx: Tx,
  invitation: Invitation,
  now: Date,
): Promise<InviteOutcome | null> {
  const limit = await reachedLimit(service, tx, invitation, now);
  const { canonicalAddress, memberRole, accountId } = invitation;
  if (limit) return limit;
  if (memberRole !== null && (await countMembersOf(tx, accountId)) >= membersMax)
    return { outcome: "members-limit", max: membersMax };
  if (canonicalAddress === null) return null;
  // An address may be invited by several accounts, each of which knows of its own invitation alone.
  const open = await lockOpenInvitationTo(tx, canonicalAddress, now, memberRole === null ? null : accountId);
  return open && { outcome: "already-invited", id: open.id };
}

/** Checks the limits of the inviting account and of the address, and holds both until the transaction ends. */
async function reachedLimit(
  { configuration }: AccountService,
  tx: Tx,
  { accountId, canonicalAddress }: Invitation,
  now: Date,
): Promise<LimitOutcome | null> {
  const max = configuration.get("account.invitations.max");
  await advisoryLock(tx, `invitations of ${accountId}`);
  const counted = await countInvitationsOf(tx, accountId, now, new Date(now.getTime() - hours(1)));
  if (counted.open >= max || counted.mails >= max) return { outcome: "limit-reached", max };
  if (canonicalAddress === null) return null;
  await advisoryLock(tx, `invitations to ${canonicalAddress}`);
  const mails = await countInvitationMailsTo(tx, canonicalAddress, new Date(now.getTime() - hours(24)));
  return mails >= mailsToAddressMax ? { outcome: "address-limit" } : null;
}

async function send(service: AccountService, tx: Tx, invitation: Invitation, token: string): Promise<SentInvitation> {
  const { hasIssuer, configuration, accountStore, mails } = service;
  const { address: to, accountId, locale, expiresAt } = invitation;
  const role = invitation.memberRole ?? invitation.role;
  const baseUrl = configuration.get("http.base-url");
  const link = hasIssuer ? `${baseUrl}${invitationsPath}/${token}` : baseUrl;
  if (to === null) return { outcome: "sent", invitation, url: link };
  const inviter = (await accountStore.find(accountId))?.displayName ?? "–";
  const envelope = { to, accountId: null, locale, timezone: "UTC", expiresAt };
  const kind = invitation.memberRole === null ? "invitation" : "member-invitation";
  await mails.enqueue(tx, { kind, ...envelope, inviter, role, link });
  return { outcome: "sent", invitation, url: null };
}
