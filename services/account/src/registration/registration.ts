import { parseIssuers } from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { canonicalAddress, checkContactAddress } from "../accounts/account-fields.ts";
import type { CredentialUse } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { grantOfNew, type Invitation } from "../invitations/invitation.ts";
import { lockInvitationFor, lockInvitationTo, recordAcceptance } from "../invitations/invitation-acceptance.ts";
import { createAccount, type NewAccount } from "./provisioning.ts";

/** The values of `account.registration`. */
export type RegistrationMode = "closed" | "invited" | "domains" | "open";

/** The rules of this moment: both are live properties. */
interface RegistrationRules {
  readonly mode: RegistrationMode;
  /** Domains whose addresses may register, in the mode `domains`. */
  readonly domains: readonly string[];
}

const registrationRules = (configuration: AccountService["configuration"]): RegistrationRules => ({
  mode: configuration.get("account.registration") as RegistrationMode,
  domains: configuration.get("account.registration.domains"),
});

/** Returns true for an issuer whose logins need an invitation, by our name of it. */
const needsInvitation = (configuration: AccountService["configuration"], issuer: string): boolean =>
  parseIssuers(configuration.get("auth.issuers")).some(
    ({ name, provision }) => name === issuer && provision === "invited",
  );

/** A person who has proved to hold an address that no account has. */
interface Newcomer {
  readonly address: string;
  /** The token of the invitation that the person follows; null without one. */
  readonly invitation: string | null;
  readonly by: CredentialUse;
}

// Decides who gets an account by a first sign-in. People who have one are never asked.

/** Registers a person at the built-in issuer; null for one who may not. The rule is that of this moment. */
export async function registerPerson(
  service: AccountService,
  tx: Tx,
  { address, invitation, by }: Newcomer,
  wanted: NewAccount,
): Promise<Account | null> {
  const isClosed = service.configuration.get("account.registration") === "closed";
  const found = isClosed || invitation === null ? null : await lockInvitationFor(service, tx, invitation, address);
  if (found) return acceptAsNew(service, tx, found, wanted, by);
  return mayRegister(address, registrationRules(service.configuration)) ? createAccount(service, tx, wanted) : null;
}

/**
 * Creates the account of another issuer's login.
 *
 * @throws AppError `unauthorized` where the issuer's logins need an invitation and this one has none.
 */
export async function registerLogin(
  service: AccountService,
  tx: Tx,
  issuer: string,
  wanted: NewAccount,
): Promise<Account> {
  if (!needsInvitation(service.configuration, issuer)) return createAccount(service, tx, wanted);
  const { email, email_verified: isVerified } = wanted.claims;
  const isProven = isVerified === true && typeof email === "string" && checkContactAddress(email) === null;
  const found = isProven ? await lockInvitationTo(service, tx, email) : null;
  if (!found) throw new AppError("unauthorized", notInvited);
  return acceptAsNew(service, tx, found, wanted, { credential: wanted.credential, address: null, requestId: null });
}

async function acceptAsNew(
  service: AccountService,
  tx: Tx,
  invitation: Invitation,
  wanted: NewAccount,
  by: Newcomer["by"],
): Promise<Account> {
  const claims = { ...wanted.claims, name: wanted.claims.name ?? invitation.name, locale: invitation.locale };
  // A new member owns an account too: their own, which is who they are.
  const grant = invitation.memberRole === null ? grantOfNew(invitation) : undefined;
  const account = await createAccount(service, tx, { ...wanted, claims, grant });
  await recordAcceptance(service, tx, invitation, account.id, { kind: "owner", accountId: account.id, ...by });
  return account;
}

const notInvited =
  "This login has no account yet, and new ones need an invitation to the verified address of the login.";

/** Returns true when an address may register without an invitation. */
export function mayRegister(address: string, { mode, domains }: RegistrationRules): boolean {
  if (mode === "open") return true;
  const canonical = canonicalAddress(address);
  return mode === "domains" && domains.includes(canonical.slice(canonical.lastIndexOf("@") + 1));
}
