import {
  builtInIssuer,
  createTokenVerifier,
  digestApiKey,
  type Issuer,
  isSignedOut,
  type KeySet,
  looksLikeApiKey,
  mistyped,
  type PresentedCredential,
  type Principal,
  type PrincipalCredential,
  type PrincipalSource,
  parseApiKey,
  sameDigest,
  type TokenVerifier,
  type VerifiedToken,
} from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import type { AuditRefusals } from "@signalbox/service";
import type { AccessAnnouncements } from "../access/access-announcements.ts";
import { type Account, scopesOfAccount, stateOf } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Refusal } from "../audit/audit-log.ts";
import type { ApiKey } from "../credentials/api-key.ts";
import { type CredentialStatus, statusOf } from "../credentials/credential.ts";
import type { CredentialStore } from "../credentials/credential-store.ts";
import {
  credentialOfPortal,
  type PortalSession,
  portalPrefix,
  scopesOfAccess,
  statusOfPortalSession,
} from "../portal-sessions/portal-session.ts";
import type { PortalSessionStore } from "../portal-sessions/portal-session-store.ts";
import type { Configured } from "../properties.ts";
import type { Provisioning } from "../registration/provisioning.ts";
import type { Registration } from "../registration/registration.ts";
import { type StepUpStore, steppedUp } from "../step-up/step-up-store.ts";

interface Stores {
  readonly accountStore: Pick<AccountStore, "find">;
  readonly apiKeyStore: Pick<CredentialStore<ApiKey>, "findByDigest" | "touch">;
  readonly portalSessionStore: Pick<PortalSessionStore, "findByDigest">;
  readonly stepUpStore: Pick<StepUpStore, "find">;
}

interface Dependencies {
  readonly tokens: TokenVerifier;
  readonly stores: Stores;
  readonly provisioning: Pick<Provisioning, "provision">;
  readonly registration: Pick<Registration, "ofLogin">;
  readonly auditRefusals: Pick<AuditRefusals, "record">;
  readonly access: Pick<AccessAnnouncements, "hasUnannounced">;
  /** True when roles are granted here; they then bound every credential of the account. */
  readonly rolesAreOurs: boolean;
}

/**
 * Finds the principal of a credential: called by this service's own edge, and by every other service over `POST
 * /internal/principals`.
 */
export function createPrincipals(
  { clock, log }: Pick<Configured, "clock" | "log">,
  dependencies: Dependencies,
): PrincipalSource {
  const { tokens, stores, auditRefusals, access, rolesAreOurs } = dependencies;
  const { accountStore, apiKeyStore, portalSessionStore } = stores;
  const within = rolesAreOurs ? withinRolesOf : withinBoundOf;

  return {
    resolve({ kind, value }: PresentedCredential) {
      if (looksLikeApiKey(value)) return fromApiKey(value);
      if (kind === "bearer") return fromToken(value);
      throw new AppError("unauthorized", "This is not an API key.");
    },
    hasUnannounced: () => access.hasUnannounced(),
  };

  /** An API key acts for the account that created it, with its own scopes. */
  async function fromApiKey(text: string): Promise<Principal> {
    const parsed = parseApiKey(text);
    if (!parsed) throw mistyped();
    const digest = digestApiKey(text);
    const session = parsed.environment === portalPrefix ? await portalSessionStore.findByDigest(digest) : null;
    if (session && sameDigest(session.digest, digest))
      return principalOfPortal(session, { accountStore, within, now: clock.now() });
    const key = await apiKeyStore.findByDigest(digest);
    if (!key || !sameDigest(key.digest, digest)) throw refused("The API key is not known.");
    const status = statusOf(key, clock.now());
    if (status !== "active") {
      auditRefusals.record(endedKeyUsed(key, status));
      throw refused(`The API key is ${status}.`);
    }
    const account = await accountStore.find(key.accountId);
    if (!account) throw refused("The API key is not known.");

    apiKeyStore
      .touch(key.id, clock.now())
      .catch((error) => log.warn({ error }, "the last use of an API key could not be recorded"));
    const credential = { kind: "api-key", id: key.id, authTimeMs: null } as const;
    const { roles, scopes } = within(account, { roles: key.roles, scopes: new Set(key.scopes) });
    return principalOf(account, { ...key, roles, scopes, credential });
  }

  async function fromToken(text: string): Promise<Principal> {
    const token = await tokens.verify(text);
    const account = await accountOf(token, dependencies);
    const credential = credentialOf(token);
    if (isSignedOut(credential, account.signedOutAt?.getTime() ?? null)) {
      throw refused("The account has signed out everywhere since the token was issued.");
    }
    return principalOf(account, {
      ...token,
      ...within(account, token),
      credential: await withStepUp(credential, account.id, stores),
    });
  }
}

/** A portal session acts for the account, sees its endpoints, and is refused by whatever does not admit it. */
async function principalOfPortal(
  session: PortalSession,
  {
    accountStore,
    within,
    now,
  }: Pick<Stores, "accountStore"> & { readonly within: typeof withinRolesOf; readonly now: Date },
): Promise<Principal> {
  const status = statusOfPortalSession(session, now);
  if (status !== "active") throw refused(`The link has ${status === "ended" ? "been ended" : "expired"}.`);
  const account = await accountStore.find(session.accountId);
  if (!account) throw refused("The link is not known.");
  const { scopes } = within(account, { roles: [], scopes: new Set(scopesOfAccess[session.access]) });
  const credential = credentialOfPortal(session);
  const { expiresAt, endpointIds } = session;
  return { ...principalOf(account, { scopes, roles: [], credential, expiresAt }), portal: { endpointIds } };
}

/** A token of the built-in issuer names its account. The first use of another issuer's token creates the account. */
async function accountOf(
  { issuer, subject, id, claims }: VerifiedToken,
  { stores: { accountStore }, provisioning, registration }: Dependencies,
): Promise<Account> {
  if (issuer !== builtInIssuer) {
    const firstUse = { identity: { issuer, subject }, claims, credential: id };
    return provisioning.provision(firstUse, (tx, wanted) => registration.ofLogin(tx, issuer, wanted));
  }
  const account = await accountStore.find(String(claims.account_id));
  if (account && account.purgedAt === null) return account;
  throw refused("The account of this token no longer exists.");
}

/** A mailed code proves as much as a sign-in; the later of both counts. */
async function withStepUp(
  credential: PrincipalCredential,
  accountId: string,
  { stepUpStore }: Pick<Stores, "stepUpStore">,
): Promise<PrincipalCredential> {
  const stepUp = credential.kind === "token" ? await stepUpStore.find(accountId, steppedUp(credential)) : null;
  if (stepUp === null) return credential;
  return { ...credential, authTimeMs: Math.max(credential.authTimeMs ?? 0, stepUp.at.getTime()) };
}

type Access = Pick<Principal, "scopes" | "roles">;

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

/** Creates the verifier of these issuers' tokens. `localKeys` has the keys of issuers in this process. */
export function createTokens(
  { configuration, clock, log }: Pick<Configured, "configuration" | "clock" | "log">,
  issuers: readonly Issuer[],
  localKeys: Readonly<Record<string, () => KeySet>> = {},
): TokenVerifier {
  return createTokenVerifier({
    issuers,
    clock,
    clockSkewSeconds: configuration.get("auth.clock-skew"),
    maxAgeSeconds: configuration.get("auth.tokens.max-age"),
    onKeysFailure: (issuer, error) => log.warn({ issuer, error }, "the keys of an issuer could not be read"),
    localKeys,
  });
}
