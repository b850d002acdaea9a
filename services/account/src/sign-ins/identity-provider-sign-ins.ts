import { builtInIssuer, requireState } from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import { advisoryLock, type Tx } from "@signalbox/storage";
import { type Account, stateOf } from "../accounts/account.ts";
import { canonicalAddress } from "../accounts/account-fields.ts";
import type { Identity } from "../accounts/account-store.ts";
import type { AccountService } from "../context/account-service.ts";
import { type LinkOutcome, linkLogin } from "../identities/identities.ts";
import { accountOfIdentity, insertIdentity } from "../identities/identity.ts";
import type { ProfileClaims } from "../registration/provisioning.ts";
import { registerPerson } from "../registration/registration.ts";
import { recordSignIn } from "./sign-in-events.ts";
import { type BrowserUse, type Deletion, refuseClosed, tellOfBrowser } from "./sign-in-outcome.ts";
import { findByAddress } from "./sign-ins.ts";

/** A person whom an identity provider has proved. */
export interface ProviderSignIn extends BrowserUse {
  readonly identity: Identity;
  /** Verified by the provider; null without one. */
  readonly address: string | null;
  readonly claims: ProfileClaims;
  /** The token of the invitation that the person follows; null without one. */
  readonly invitation: string | null;
}

export type ProviderOutcome =
  | { outcome: "signed-in"; accountId: string }
  | { outcome: "address-held" | "no-address" | "not-registered" }
  | ({ outcome: "account-deleted" } & Deletion);

// Sign-ins with identity providers. Issuer and subject are the identity; an address only finds the account that its owner
// may connect.

/**
 * Signs in to the account of the identity, or to a new one where the person may register. An account that holds the
 * address is never taken: its owner has to sign in to it first.
 */
export async function signInByProvider(
  service: AccountService,
  tx: Tx,
  proven: ProviderSignIn,
): Promise<ProviderOutcome> {
  const { identity, address } = proven;
  await advisoryLock(tx, `login ${identity.issuer} ${identity.subject}`);
  const known = await service.accountStore.lock(tx, (await accountOfIdentity(tx, identity)) ?? "");
  if (known) return enter(service, tx, known, proven);
  if (address === null) return { outcome: "no-address" };
  await advisoryLock(tx, `sign-in to ${canonicalAddress(address)}`);
  if ((await findByAddress(tx, address)) !== null) return { outcome: "address-held" };
  const account = await register(service, tx, { ...proven, address });
  if (account === null) return { outcome: "not-registered" };
  await recordSignIn(service, tx, { accountId: account.id, method, ...proven });
  return { outcome: "signed-in", accountId: account.id };
}

const method = "identity_provider";

async function enter(
  service: AccountService,
  tx: Tx,
  account: Account,
  proven: ProviderSignIn,
): Promise<ProviderOutcome> {
  const { id: accountId } = account;
  const closed = await refuseClosed(service, account, { fields: ["status"], by: proven.by });
  if (closed) return closed;
  await recordSignIn(service, tx, { accountId, method, ...proven });
  await tellOfBrowser(service, tx, account, proven);
  return { outcome: "signed-in", accountId };
}

/** The account begins at the built-in issuer, as any other of its people, and with the login of the provider. */
async function register(
  service: AccountService,
  tx: Tx,
  { identity, address, claims, invitation, by }: ProviderSignIn & { readonly address: string },
): Promise<Account | null> {
  const account = await registerPerson(
    service,
    tx,
    { address, invitation, by },
    {
      claims: { ...claims, email: address, email_verified: true },
      identityOf: ({ id }) => ({ issuer: builtInIssuer, subject: id }),
      credential: by.credential,
    },
  );
  if (account === null) return null;
  const isNew = await insertIdentity(tx, account.id, { ...identity, createdAt: service.clock.now() });
  if (!isNew) throw new AppError("conflict", "This login already has an account.");
  return account;
}

/** Connects the identity to the account that its owner is signed in to, by their consent. */
export async function joinLogin(
  service: AccountService,
  tx: Tx,
  accountId: string,
  { identity, by }: Pick<ProviderSignIn, "identity" | "by">,
): Promise<LinkOutcome | { readonly outcome: "missing" }> {
  const account = await service.accountStore.lock(tx, accountId);
  if (!account) return { outcome: "missing" };
  requireState(stateOf(account), "write");
  return linkLogin(service, tx, { kind: "owner", accountId, ...by }, account, identity);
}
