import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { Tx } from "@signalbox/storage";
import type { AccessAnnouncements } from "../access/access-announcements.ts";
import { type Account, scopesOfAccount } from "../accounts/account.ts";
import { canonicalAddress } from "../accounts/account-fields.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor, Audit } from "../audit/audit-log.ts";
import { digestLinkToken } from "../contacts/contact-link.ts";
import {
  grantOfExisting,
  type Invitation,
  invitationEvents,
  isFor,
  scopesOfInvitation,
  statusOfInvitation,
} from "./invitation.ts";
import type { InvitationStore } from "./invitation-store.ts";

interface Dependencies {
  readonly invitationStore: Pick<InvitationStore, "findByDigest" | "lockByDigest" | "lockOpenTo" | "save">;
  readonly accountStore: Pick<AccountStore, "find" | "lock" | "save">;
  readonly access: Pick<AccessAnnouncements, "invalidate">;
  readonly audit: Pick<Audit, "record">;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
  /** True when roles are granted here; the inviting account then needs what it brings until the end. */
  readonly rolesAreOurs: boolean;
}

/** An invitation as its reader sees it, with the account that invites. */
interface FoundInvitation {
  readonly invitation: Invitation;
  readonly inviter: Account;
}

/** An account that accepts, and the request that it does so by. */
export interface Accepting extends Pick<Actor, "address" | "requestId"> {
  readonly accountId: string;
}

export type AcceptOutcome = { outcome: "accepted" | "blocked" | "other-address" | "ended" | "unknown" };

export type InvitationAcceptance = ReturnType<typeof createInvitationAcceptance>;

/** Accepts invitations: with the account that a browser is signed in to, or by a new account. */
export function createInvitationAcceptance(dependencies: Dependencies) {
  const { invitationStore, accountStore, audit, outbox, clock, rolesAreOurs } = dependencies;

  return {
    /** Finds an invitation without using it; `isOpen` is false for one that can no longer be accepted. */
    async find(token: string): Promise<(FoundInvitation & { readonly isOpen: boolean }) | null> {
      const invitation = await invitationStore.findByDigest(digestLinkToken(token));
      const inviter = invitation && (await accountStore.find(invitation.accountId));
      return invitation && inviter && { invitation, inviter, isOpen: isOpen(invitation, inviter) };
    },

    /** Adds the role to an existing account, by its holder's consent. */
    async accept(tx: Tx, token: string, { accountId, ...from }: Accepting): Promise<AcceptOutcome> {
      const account = await accountStore.lock(tx, accountId);
      const invitation = await invitationStore.lockByDigest(tx, digestLinkToken(token));
      if (!invitation || !account) return { outcome: "unknown" };
      if (!(await canBeAccepted(invitation))) return { outcome: "ended" };
      if (account.status !== "active") return { outcome: "blocked" };
      if (!isFor(invitation, account)) return { outcome: "other-address" };
      const by: Actor = { kind: "owner", accountId, credential: "invitation", ...from };
      await grantRole(tx, account, invitation, by, dependencies);
      await note(tx, invitation, accountId, by);
      return { outcome: "accepted" };
    },

    /** Locks the invitation of a link for a person who holds `address`; null when it cannot be accepted with it. */
    async lockFor(tx: Tx, token: string, address: string): Promise<Invitation | null> {
      const invitation = await invitationStore.lockByDigest(tx, digestLinkToken(token));
      const invited = invitation?.canonicalAddress ?? null;
      if (!invitation || (invited !== null && invited !== canonicalAddress(address))) return null;
      return (await canBeAccepted(invitation)) ? invitation : null;
    },

    /** Locks the open invitation to an address; null without one. */
    async lockTo(tx: Tx, address: string): Promise<Invitation | null> {
      const invitation = await invitationStore.lockOpenTo(tx, canonicalAddress(address), clock.now());
      return invitation && (await canBeAccepted(invitation)) ? invitation : null;
    },

    note,
  };

  /** Notes that a locked invitation was accepted. */
  async function note(tx: Tx, invitation: Invitation, accountId: string, by: Actor): Promise<void> {
    const now = clock.now();
    const accepted = { ...invitation, acceptedAt: now, acceptedBy: accountId };
    await invitationStore.save(tx, accepted);
    await audit.record(tx, by, { action: "invitation.accept", accountId, subject: invitation.id, fields: ["status"] });
    await outbox.append(tx, [invitationEvents.accepted(accepted, now)]);
  }

  async function canBeAccepted(invitation: Invitation): Promise<boolean> {
    const inviter = await accountStore.find(invitation.accountId);
    return inviter !== null && isOpen(invitation, inviter);
  }

  /** An administrator who has left, or has lost the role, invites nobody any more. */
  function isOpen(invitation: Invitation, inviter: Account): boolean {
    if (statusOfInvitation(invitation, clock.now()) !== "open" || inviter.status !== "active") return false;
    const held = scopesOfAccount(inviter);
    return !rolesAreOurs || ["account:admin" as const, ...scopesOfInvitation(invitation)].every((one) => held.has(one));
  }
}

/** Adds the role of an invitation to an existing account, whose credentials every service then looks up again. */
async function grantRole(
  tx: Tx,
  account: Account,
  invitation: Invitation,
  by: Actor,
  { accountStore, access, audit }: Pick<Dependencies, "accountStore" | "access" | "audit">,
): Promise<void> {
  const granted = grantOfExisting(account, invitation);
  if (granted.roles.length === account.roles.length && same(granted.scopesMax, account.scopesMax)) return;
  await accountStore.save(tx, await access.invalidate(tx, { ...account, ...granted }));
  const change = { action: "account.grant_role", fields: ["roles"], reason: invitation.role } as const;
  await audit.record(tx, by, { ...change, accountId: account.id });
}

const same = (one: readonly string[], other: readonly string[]): boolean => one.join(" ") === other.join(" ");
