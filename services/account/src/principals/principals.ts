import {
  builtInIssuer,
  digestApiKey,
  isSignedOut,
  looksLikeApiKey,
  mistyped,
  type PresentedCredential,
  type Principal,
  type PrincipalCredential,
  parseApiKey,
  sameDigest,
  type VerifiedToken,
} from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import { type Account, scopesOfAccount, stateOf } from "../accounts/account.ts";
import type { Refusal } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { type ApiKey, apiKeyStore } from "../credentials/api-key.ts";
import { type CredentialStatus, statusOf } from "../credentials/credential.ts";
import { withRolesElsewhere } from "../identities/identities.ts";
import { scopesOfMemberIn } from "../members/members.ts";
import { findMembershipOf } from "../members/membership-store.ts";
import {
  credentialOfPortal,
  type PortalSession,
  portalPrefix,
  scopesOfAccess,
  statusOfPortalSession,
} from "../portal-sessions/portal-session.ts";
import { findPortalSessionByDigest } from "../portal-sessions/portal-session-store.ts";
import { provisionAccount } from "../registration/provisioning.ts";
import { registerLogin } from "../registration/registration.ts";
import { steppedUpAt } from "../step-up/step-ups.ts";

// Finds the principal of a credential: called by this service's own edge, and by every other service over `POST
// /internal/principals`.

export function resolvePrincipal(service: AccountService, { kind, value }: PresentedCredential) {
  if (looksLikeApiKey(value)) return fromApiKey(service, value);
  if (kind === "bearer") return fromToken(service, value);
  throw new AppError("unauthorized", "This is not an API key.");
}

/** An API key acts for the account that created it, with its own scopes. */
async function fromApiKey(service: AccountService, text: string): Promise<Principal> {
  const { pool, clock, auditRefusals, accountStore, log } = service;
  const parsed = parseApiKey(text);
  if (!parsed) throw mistyped();
  const digest = digestApiKey(text);
  const session = parsed.environment === portalPrefix ? await findPortalSessionByDigest(pool, digest) : null;
  if (session && sameDigest(session.digest, digest)) return principalOfPortal(service, session);
  const key = await apiKeyStore.findByDigest(pool, digest);
  if (!key || !sameDigest(key.digest, digest)) throw refused("The API key is not known.");
  const status = statusOf(key, clock.now());
  if (status !== "active") {
    auditRefusals.record(endedKeyUsed(key, status));
    throw refused(`The API key is ${status}.`);
  }
  const account = await accountStore.find(key.accountId);
  if (!account) throw refused("The API key is not known.");

  apiKeyStore
    .touch(pool, key.id, clock.now())
    .catch((error) => log.warn({ error }, "the last use of an API key could not be recorded"));
  const credential = { kind: "api-key", id: key.id, authTimeMs: null } as const;
  const { roles, scopes } = await within(service, account, { roles: key.roles, scopes: new Set(key.scopes) });
  return principalOf(account, { ...key, roles, scopes, credential });
}

async function fromToken(service: AccountService, text: string): Promise<Principal> {
  const token = await service.tokens.verify(text);
  const account = await accountOf(service, token);
  const credential = credentialOf(token);
  if (isSignedOut(credential, account.signedOutAt?.getTime() ?? null)) {
    throw refused("The account has signed out everywhere since the token was issued.");
  }
  const steppedUp = await withStepUp(service, credential, account.id);
  const actingId = actingAccountOf(token);
  if (actingId !== null && actingId !== account.id) {
    return principalOfMember(service, { person: account, actingId, token, credential: steppedUp });
  }
  const access = token.issuer === builtInIssuer ? withinRolesOf(account, token) : withinBoundOf(account, token);
  return principalOf(account, { ...token, ...access, credential: steppedUp });
}

/** The account that a person's token of the built-in issuer acts for; null for any other token. */
const actingAccountOf = ({ issuer, kind, claims }: VerifiedToken): string | null =>
  issuer === builtInIssuer && kind === "token" ? String(claims.account_id) : null;

interface ActingMember {
  readonly person: Account;
  readonly actingId: string;
  readonly token: VerifiedToken;
  readonly credential: PrincipalCredential;
}

/** A member acts for the account within their role; what their own account may do does not count. */
async function principalOfMember(
  service: AccountService,
  { person, actingId, token, credential }: ActingMember,
): Promise<Principal> {
  const membership = await findMembershipOf(service.pool, actingId, person.id);
  const account = membership && (await service.accountStore.find(actingId));
  if (!account || account.purgedAt !== null) throw refused("The person is not a member of this account.");
  if (person.status !== "active") throw refused(`The account of the person is ${person.status}.`);
  const { role } = membership;
  const granted = new Set(scopesOfMemberIn(account, role));
  const scopes = new Set([...token.scopes].filter((scope) => granted.has(scope)));
  const member = { accountId: person.id, role, epoch: person.accessEpoch };
  return { ...principalOf(account, { scopes, roles: [], credential, expiresAt: token.expiresAt }), member };
}

/** A portal session acts for the account, sees its endpoints, and is refused by whatever does not admit it. */
async function principalOfPortal(service: AccountService, session: PortalSession): Promise<Principal> {
  const status = statusOfPortalSession(session, service.clock.now());
  if (status !== "active") throw refused(`The link has ${status === "ended" ? "been revoked" : "expired"}.`);
  const account = await service.accountStore.find(session.accountId);
  if (!account) throw refused("The link is not known.");
  const { scopes } = await within(service, account, { roles: [], scopes: new Set(scopesOfAccess[session.access]) });
  const credential = credentialOfPortal(session);
  const { expiresAt, endpointIds } = session;
  return { ...principalOf(account, { scopes, roles: [], credential, expiresAt }), portal: { endpointIds } };
}

/** A token of the built-in issuer names its person, or the account of its client. The first use of another issuer's token creates the account. */
async function accountOf(
  service: AccountService,
  { issuer, kind, subject, id, claims }: VerifiedToken,
): Promise<Account> {
  if (issuer !== builtInIssuer) {
    const firstUse = { identity: { issuer, subject }, claims, credential: id };
    return provisionAccount(service, firstUse, (tx, wanted) => registerLogin(service, tx, issuer, wanted));
  }
  const account = await service.accountStore.find(kind === "token" ? subject : String(claims.account_id));
  if (account && account.purgedAt === null) return account;
  throw refused("The account of this token no longer exists.");
}

/** A mailed code proves as much as a sign-in; the later of both counts. */
async function withStepUp(
  service: AccountService,
  credential: PrincipalCredential,
  accountId: string,
): Promise<PrincipalCredential> {
  const at = credential.kind === "token" ? await steppedUpAt(service, accountId, credential) : null;
  return at === null ? credential : { ...credential, authTimeMs: Math.max(credential.authTimeMs ?? 0, at.getTime()) };
}

type Access = Pick<Principal, "scopes" | "roles">;

/** Finds the part of a key's access that its account still has; only roles that are granted here bound it. */
async function within(service: AccountService, account: Account, access: Access): Promise<Access> {
  const elsewhere = await withRolesElsewhere(service, service.pool, [account.id]);
  return elsewhere.has(account.id) ? withinBoundOf(account, access) : withinRolesOf(account, access);
}

/** A revoked role takes its scopes from tokens and keys, however they were created. */
function withinRolesOf(account: Account, { scopes, roles }: Access): Access {
  const brought = scopesOfAccount(account);
  return {
    roles: roles.filter((role) => account.roles.includes(role)),
    scopes: new Set([...scopes].filter((scope) => brought.has(scope))),
  };
}

/** The roles of another issuer's tokens stay as they are, within the bound of the account. */
function withinBoundOf({ scopesMax }: Account, { scopes, roles }: Access): Access {
  if (scopesMax.length === 0) return { scopes, roles };
  return { roles, scopes: new Set([...scopes].filter((scope) => scopesMax.includes(scope))) };
}

function principalOf(
  account: Account,
  { scopes, roles, credential, expiresAt }: Pick<Principal, "scopes" | "roles" | "credential" | "expiresAt">,
): Principal {
  const { id: accountId, accessEpoch: epoch, locale, createdAt } = account;
  const profile = { locale, createdAtMs: createdAt.getTime() };
  return { accountId, ...stateOf(account), epoch, scopes, roles, credential, expiresAt, profile };
}

const refused = (message: string) => new AppError("unauthorized", message);

/**
 * Somebody still uses a key that has ended, and the owner gets a notice. The asking service does not say from where.
 */
function endedKeyUsed({ id, accountId }: ApiKey, status: CredentialStatus): Refusal {
  const by = { kind: "owner", accountId, credential: id, address: null, requestId: null } as const;
  return { accountId, operation: "api_key.use", reason: status, fields: ["status"], subject: id, by };
}

/** A service client is identified by its own id, so that its tokens share one allowance and end with it. */
function credentialOf(token: VerifiedToken): PrincipalCredential {
  const { issuer, kind, id, tokenId, subject, authTimeMs, claims } = token;
  if (issuer === builtInIssuer && kind === "client") return { kind, id: subject, tokenId, issuer, authTimeMs: null };
  // The built-in issuer revokes its tokens one by one.
  const issuedAt = issuer !== builtInIssuer && { issuedAtMs: (claims.iat ?? 0) * 1000 };
  return { kind, id, ...(tokenId !== id && { tokenId }), issuer, authTimeMs, ...issuedAt };
}
