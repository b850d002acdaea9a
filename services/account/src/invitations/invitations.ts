import { type Caller, requireScopes } from "@signalbox/auth";
import { type Clock, hours } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { advisoryLock, type Tx } from "@signalbox/storage";
import type { AccountStore } from "../accounts/account-store.ts";
import { type Audit, actorOf } from "../audit/audit-log.ts";
import type { Mails } from "../mail/mails.ts";
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
import type { InvitationStore } from "./invitation-store.ts";

/** The rules of invitations, which are live properties. */
interface InvitationRules {
  /** True when no new account may be made by signing in. */
  readonly isClosed: () => boolean;
  /** Maximum number of open invitations of one account, and of its mails in an hour. */
  readonly max: () => number;
  readonly defaultLocale: () => string;
  readonly baseUrl: string;
  /** True at the built-in issuer. Another issuer's tokens bring their own roles, and its sign-in has no page of ours. */
  readonly rolesAreOurs: boolean;
}

interface Dependencies {
  readonly invitationStore: InvitationStore;
  readonly accountStore: Pick<AccountStore, "find">;
  readonly mails: Mails;
  readonly audit: Pick<Audit, "record">;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
  readonly rules: InvitationRules;
}

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

export type Invitations = ReturnType<typeof createInvitations>;

/** The invitations of administrators: made, sent again, revoked. */
export function createInvitations(dependencies: Dependencies) {
  const { invitationStore, audit, outbox, clock, rules } = dependencies;

  return {
    find: invitationStore.find,
    list: invitationStore.list,
    lock: invitationStore.lock,

    /** Invites a person with no more permissions than the caller has, by mail or by a link. */
    async create(tx: Tx, caller: Caller, wanted: NewInvitation): Promise<InviteOutcome> {
      const now = clock.now();
      const fault = judge(wanted, rules, now);
      if (fault) return fault;
      const { token, digest } = newLink();
      const start = { accountId: caller.accountId, digest, locale: rules.defaultLocale(), now };
      const invitation = startInvitation(wanted, start);
      requireScopes(caller, scopesOfInvitation(invitation));
      const refused = await judgeAddress(tx, invitation, now, dependencies);
      if (refused) return refused;
      await invitationStore.insert(tx, invitation);
      await note(tx, caller, "invitation.create", invitation, ["address", "role", "scopes_max", "expires_at"]);
      await outbox.append(tx, [invitationEvents.created(invitation, now)]);
      return send(tx, invitation, token, dependencies);
    },

    /** Sends an open or expired invitation again. The earlier link ends. */
    async resend(tx: Tx, caller: Caller, invitation: Invitation): Promise<ResendOutcome> {
      const now = clock.now();
      const status = statusOfInvitation(invitation, now);
      if (status === "accepted" || status === "revoked") return { outcome: "ended", status };
      requireScopes(caller, scopesOfInvitation(invitation));
      const limit = await reachedLimit(tx, { ...invitation, accountId: caller.accountId }, now, dependencies);
      if (limit) return limit;
      const { token, digest } = newLink();
      const next = renewed(invitation, digest, now);
      await invitationStore.save(tx, next);
      await note(tx, caller, "invitation.resend", next, ["expires_at"]);
      return send(tx, next, token, dependencies);
    },

    /** Revokes an invitation that nobody has accepted; one that has ended stays as it is. */
    async revoke(tx: Tx, caller: Caller, invitation: Invitation): Promise<Invitation> {
      if (invitation.acceptedAt !== null || invitation.revokedAt !== null) return invitation;
      const now = clock.now();
      const revoked = { ...invitation, revokedAt: now };
      await invitationStore.save(tx, revoked);
      await note(tx, caller, "invitation.revoke", revoked, ["status"]);
      await outbox.append(tx, [invitationEvents.revoked(revoked, now)]);
      return revoked;
    },
  };

  type Action = "invitation.create" | "invitation.resend" | "invitation.revoke";

  async function note(tx: Tx, caller: Caller, action: Action, { id: subject }: Invitation, fields: string[]) {
    const { accountId } = caller;
    await audit.record(tx, actorOf(caller, "administrator"), { action, accountId, subject, fields });
  }
}

function judge(wanted: NewInvitation, { isClosed, rolesAreOurs }: InvitationRules, now: Date): InviteOutcome | null {
  if (isClosed()) return { outcome: "closed" };
  if (!rolesAreOurs && wanted.role !== "owner") return { outcome: "roles-by-issuer" };
  if (!rolesAreOurs && wanted.address === null) return { outcome: "address-needed" };
  const why = faultOfEnd(wanted.expires_at, now);
  if (why !== null) return { outcome: "invalid-end", why };
  const brought = scopesOfInvitation({ role: wanted.role, scopesMax: [] });
  const beyond = (wanted.scopes_max ?? []).filter((scope) => !brought.includes(scope));
  return beyond.length > 0 ? { outcome: "beyond-role", scopes: beyond } : null;
}

/** Refuses an invitation beyond a limit, or a second one to the same address. */
async function judgeAddress(
  tx: Tx,
  invitation: Invitation,
  now: Date,
  dependencies: Pick<Dependencies, "invitationStore" | "rules">,
): Promise<InviteOutcome | null> {
  const limit = await reachedLimit(tx, invitation, now, dependencies);
  const { canonicalAddress } = invitation;
  if (limit || canonicalAddress === null) return limit;
  const open = await dependencies.invitationStore.lockOpenTo(tx, canonicalAddress, now);
  return open && { outcome: "already-invited", id: open.id };
}

/** Checks the limits of the inviting account and of the address, and holds both until the transaction ends. */
async function reachedLimit(
  tx: Tx,
  { accountId, canonicalAddress }: Invitation,
  now: Date,
  { invitationStore, rules }: Pick<Dependencies, "invitationStore" | "rules">,
): Promise<LimitOutcome | null> {
  const max = rules.max();
  await advisoryLock(tx, `invitations of ${accountId}`);
  const counted = await invitationStore.countOfAccount(tx, accountId, now, new Date(now.getTime() - hours(1)));
  if (counted.open >= max || counted.mails >= max) return { outcome: "limit-reached", max };
  if (canonicalAddress === null) return null;
  await advisoryLock(tx, `invitations to ${canonicalAddress}`);
  const mails = await invitationStore.countMailsTo(tx, canonicalAddress, new Date(now.getTime() - hours(24)));
  return mails >= mailsToAddressMax ? { outcome: "address-limit" } : null;
}

async function send(
  tx: Tx,
  invitation: Invitation,
  token: string,
  { accountStore, mails, rules }: Pick<Dependencies, "accountStore" | "mails" | "rules">,
): Promise<SentInvitation> {
  const { address: to, accountId, locale, role, expiresAt } = invitation;
  const link = rules.rolesAreOurs ? `${rules.baseUrl}${invitationsPath}/${token}` : rules.baseUrl;
  if (to === null) return { outcome: "sent", invitation, url: link };
  const inviter = (await accountStore.find(accountId))?.displayName ?? "–";
  const envelope = { to, accountId: null, locale, timezone: "UTC", expiresAt };
  await mails.enqueue(tx, { kind: "invitation", ...envelope, inviter, role, link });
  return { outcome: "sent", invitation, url: null };
}
