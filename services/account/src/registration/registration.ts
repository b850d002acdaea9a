import { AppError } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { canonicalAddress, checkContactAddress } from "../accounts/account-fields.ts";
import type { Actor } from "../audit/audit-log.ts";
import { grantOfNew, type Invitation } from "../invitations/invitation.ts";
import type { InvitationAcceptance } from "../invitations/invitation-acceptance.ts";
import type { NewAccount, Provisioning } from "./provisioning.ts";

/** The values of `account.registration`. */
export type RegistrationMode = "closed" | "invited" | "domains" | "open";

export interface RegistrationRules {
  readonly mode: () => RegistrationMode;
  /** Domains whose addresses may register, in the mode `domains`. */
  readonly domains: () => readonly string[];
  /** The issuers whose logins need an invitation, by our names of them. */
  readonly invitedIssuers: ReadonlySet<string>;
}

interface Dependencies {
  readonly provisioning: Pick<Provisioning, "create">;
  readonly invitationAcceptance: Pick<InvitationAcceptance, "lockFor" | "lockTo" | "note">;
  readonly rules: RegistrationRules;
}

/** A person who has proved to hold an address that no account has. */
interface Newcomer {
  readonly address: string;
  /** The token of the invitation that the person follows; null without one. */
  readonly invitation: string | null;
  readonly by: Pick<Actor, "credential" | "address" | "requestId">;
}

export type Registration = ReturnType<typeof createRegistration>;

/** Decides who gets an account by a first sign-in. People who have one are never asked. */
export function createRegistration({ provisioning, invitationAcceptance, rules }: Dependencies) {
  return {
    /** Registers a person at the built-in issuer; null for one who may not. The rule is that of this moment. */
    async register(tx: Tx, { address, invitation, by }: Newcomer, wanted: NewAccount): Promise<Account | null> {
      const isClosed = rules.mode() === "closed";
      const found =
        isClosed || invitation === null ? null : await invitationAcceptance.lockFor(tx, invitation, address);
      if (found) return accept(tx, found, wanted, by);
      return mayRegister(address, rules) ? provisioning.create(tx, wanted) : null;
    },

    /**
     * Creates the account of another issuer's login.
     *
     * @throws AppError `unauthorized` where the issuer's logins need an invitation and this one has none.
     */
    async ofLogin(tx: Tx, issuer: string, wanted: NewAccount): Promise<Account> {
      if (!rules.invitedIssuers.has(issuer)) return provisioning.create(tx, wanted);
      const { email, email_verified: isVerified } = wanted.claims;
      const isProven = isVerified === true && typeof email === "string" && checkContactAddress(email) === null;
      const found = isProven ? await invitationAcceptance.lockTo(tx, email) : null;
      if (!found) throw new AppError("unauthorized", notInvited);
      return accept(tx, found, wanted, { credential: wanted.credential, address: null, requestId: null });
    },
  };

  async function accept(tx: Tx, invitation: Invitation, wanted: NewAccount, by: Newcomer["by"]): Promise<Account> {
    const claims = { ...wanted.claims, locale: invitation.locale };
    const account = await provisioning.create(tx, { ...wanted, claims, grant: grantOfNew(invitation) });
    await invitationAcceptance.note(tx, invitation, account.id, { kind: "owner", accountId: account.id, ...by });
    return account;
  }
}

const notInvited =
  "This login has no account yet, and new ones need an invitation to the verified address of the login.";

/** Returns true when an address may register without an invitation. */
export function mayRegister(address: string, { mode, domains }: Pick<RegistrationRules, "mode" | "domains">): boolean {
  if (mode() === "open") return true;
  const canonical = canonicalAddress(address);
  return mode() === "domains" && domains().includes(canonical.slice(canonical.lastIndexOf("@") + 1));
}
