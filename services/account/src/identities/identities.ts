import { builtInIssuer, type Caller, requireState } from "@signalbox/auth";
import { isAppError } from "@signalbox/core";
import type { Queryable, Tx } from "@signalbox/storage";
import { invalidateAccess } from "../access/access-announcements.ts";
import { type Account, stateOf } from "../accounts/account.ts";
import type { Identity } from "../accounts/account-store.ts";
import { type Actor, actorOf, recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { queueNotice } from "../notices/notices.ts";
import {
  bornAt,
  hasManagingKey,
  identitiesOf,
  identityId,
  insertIdentity,
  type LinkedIdentity,
  removeIdentity,
  sameIdentity,
} from "./identity.ts";

/** The login that a token proves, or the reason why it proves none. */
export type ProvenLogin =
  | { outcome: "proven"; identity: Identity }
  | { outcome: "not-accepted" }
  | { outcome: "no-login" };

export type LinkOutcome =
  | { outcome: "linked" | "already-linked"; identity: LinkedIdentity }
  | { outcome: "taken" }
  | { outcome: "limit-reached"; max: number };

type UnlinkOutcome = { outcome: "unlinked" } | { outcome: "last-way-in" } | { outcome: "missing" };

/** More logins than a person needs; the list fits one answer. */
const identitiesMax = 20;

// The logins of an account at identity providers: a person may have several.

/** Adds a login to the account; either login then reaches the account. */
export async function linkLogin(
  service: AccountService,
  tx: Tx,
  by: Actor,
  account: Account,
  identity: Identity,
): Promise<LinkOutcome> {
  requireState(stateOf(account), "write");
  const linked = await identitiesOf(tx, account.id);
  const known = linked.find((one) => sameIdentity(one, identity));
  if (known) return { outcome: "already-linked", identity: known };
  if (linked.length >= identitiesMax) return { outcome: "limit-reached", max: identitiesMax };
  const added = { ...identity, createdAt: service.clock.now() };
  if (!(await insertIdentity(tx, account.id, added))) return { outcome: "taken" };
  await recordLogin(service, tx, by, account, "identity.link", identity);
  const notice = { kind: "login-added", issuer: identity.issuer, address: by.address ?? "–" } as const;
  await queueNotice(service, tx, account, notice);
  return { outcome: "linked", identity: added };
}

/**
 * Removes a login from the account. Every service looks its tokens up again, and the next use of that login starts
 * a new account.
 */
export async function unlinkLogin(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  id: string,
): Promise<UnlinkOutcome> {
  requireState(stateOf(account), "write");
  const linked = await identitiesOf(tx, account.id);
  const identity = linked.find((one) => identityId(one) === id);
  if (!identity) return { outcome: "missing" };
  const rest = linked.filter((one) => one !== identity);
  if (await wouldLockOut(service, tx, account, rest)) return { outcome: "last-way-in" };
  await removeIdentity(tx, account.id, identity);
  await service.accountStore.save(tx, await invalidateAccess(service, tx, account));
  await recordLogin(service, tx, actorOf(caller), account, "identity.unlink", identity);
  return { outcome: "unlinked" };
}

/**
 * Returns true when these logins would leave no way to manage the account: neither a verified address at the built-in
 * issuer, nor a login at another one, nor an API key.
 */
export async function wouldLockOut(
  service: AccountService,
  tx: Tx,
  account: Account,
  logins: readonly Identity[],
): Promise<boolean> {
  const { hasIssuer, clock } = service;
  const { id, contactAddressVerified } = account;
  const signsIn = hasWayIn(service, logins) || (hasIssuer && contactAddressVerified);
  return !signsIn && !(await hasManagingKey(tx, id, clock.now()));
}

/** Returns true when one of these logins is at a configured issuer or identity provider. */
export function hasWayIn({ otherIssuers, identityProviders }: AccountService, logins: readonly Identity[]): boolean {
  const names = new Set([...otherIssuers, ...identityProviders.map(({ name }) => name)]);
  return logins.some(({ issuer }) => names.has(issuer));
}

/**
 * Finds the accounts among these whose roles come with the tokens of another issuer, because it created them. The roles
 * of all others are granted here.
 */
export async function withRolesElsewhere(
  { hasIssuer, otherIssuers }: AccountService,
  db: Queryable,
  accountIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (!hasIssuer) return new Set(accountIds);
  return otherIssuers.length === 0 ? new Set() : bornAt(db, otherIssuers, accountIds);
}

async function recordLogin(
  service: AccountService,
  tx: Tx,
  by: Actor,
  { id: accountId }: Account,
  action: "identity.link" | "identity.unlink",
  identity: Identity,
) {
  const entry = { action, accountId, subject: identityId(identity), fields: ["identities"] } as const;
  await recordInAudit(service, tx, by, entry);
}

/**
 * Finds the login that a token belongs to. A program's token is no login, and the built-in issuer's tokens name their
 * account themselves. The token is neither stored nor logged.
 *
 * @throws AppError `unavailable` while the keys of its issuer cannot be read.
 */
export async function proveLogin({ tokens }: AccountService, token: string): Promise<ProvenLogin> {
  try {
    const { issuer, subject, kind } = await tokens.verify(token);
    if (kind !== "token" || issuer === builtInIssuer) return { outcome: "no-login" };
    return { outcome: "proven", identity: { issuer, subject } };
  } catch (error) {
    if (isAppError(error) && error.code === "unauthorized") return { outcome: "not-accepted" };
    throw error;
  }
}
