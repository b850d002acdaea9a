import { type Caller, requireScopes } from "@signalbox/auth";
import { hours } from "@signalbox/core";
import { advisoryLock, type Tx } from "@signalbox/storage";
import { actorOf, recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
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

export type InviteOutcome =
  | SentInvitation
  | LimitOutcome
  | { outcome: "invalid-end"; why: "passed" | "too_big" }
  | { outcome: "beyond-role"; scopes: readonly string[] }
  | { outcome: "already-invited"; id: string }
  | { outcome: "closed" | "roles-by-issuer" | "address-needed" };

export type ResendOutcome = SentInvitation | LimitOutcome | { outcome: "ended"; status: string };

/** Invitation mails to one address in a day, by all accounts together. */
const mailsToAddressMax = 5;

// The invitations of administrators: made, sent again, revoked.

/** Invites a person with no more permissions than the caller has, by mail or by a link. */
export async function createInvitation(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  wanted: NewInvitation,
): Promise<InviteOutcome> {
  const { clock, configuration, outbox } = service;
  const now = clock.now();
  const fault = judge(service, wanted, now);
  if (fault) return fault;
  const { token, digest } = newLink();
  const start = { accountId: caller.accountId, digest, locale: configuration.get("defaults.locale"), now };
  const invitation = startInvitation(wanted, start);
  requireScopes(caller, scopesOfInvitation(invitation));
  const refused = await judgeAddress(service, tx, invitation, now);
  if (refused) return refused;
  await insertInvitation(tx, invitation);
  await recordInvitation(service, tx, caller, "invitation.create", invitation, [
    "address",
    "role",
    "scopes_max",
    "expires_at",
  ]);
  await outbox.append(tx, [invitationEvents.created(invitation, now)]);
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
  requireScopes(caller, scopesOfInvitation(invitation));
  const limit = await reachedLimit(service, tx, { ...invitation, accountId: caller.accountId }, now);
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
  await service.outbox.append(tx, [invitationEvents.revoked(revoked, now)]);
  return revoked;
}

type Action = "invitation.create" | "invitation.resend" | "invitation.revoke";

async function recordInvitation(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  action: Action,
  { id: subject }: Invitation,
  fields: string[],
) {
  const { accountId } = caller;
  await recordInAudit(service, tx, actorOf(caller, "administrator"), { action, accountId, subject, fields });
}

function judge({ hasIssuer, configuration }: AccountService, wanted: NewInvitation, now: Date): InviteOutcome | null {
  if (hasIssuer && configuration.get("account.registration") === "closed") return { outcome: "closed" };
  if (!hasIssuer && wanted.role !== "owner") return { outcome: "roles-by-issuer" };
  if (!hasIssuer && wanted.address === null) return { outcome: "address-needed" };
  const why = faultOfEnd(wanted.expires_at, now);
  if (why !== null) return { outcome: "invalid-end", why };
  const brought = scopesOfInvitation({ role: wanted.role, scopesMax: [] });
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
  const { canonicalAddress } = invitation;
  if (limit || canonicalAddress === null) return limit;
  const open = await lockOpenInvitationTo(tx, canonicalAddress, now);
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
  const { address: to, accountId, locale, role, expiresAt } = invitation;
  const link = hasIssuer
    ? `${configuration.get("http.base-url")}${invitationsPath}/${token}`
    : configuration.get("http.base-url");
  if (to === null) return { outcome: "sent", invitation, url: link };
  const inviter = (await accountStore.find(accountId))?.displayName ?? "–";
  const envelope = { to, accountId: null, locale, timezone: "UTC", expiresAt };
  await mails.enqueue(tx, { kind: "invitation", ...envelope, inviter, role, link });
  return { outcome: "sent", invitation, url: null };
}
