import { type Caller, requireState } from "@signalbox/auth";
import { privilegedScopes, type Role, type Scope } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { strongEtag } from "@signalbox/http";
import { type Account, stateOf } from "../accounts/account.ts";

/** The common part of API keys and service clients: a secret that is shown once, and its permissions. */
export interface Credential {
  readonly id: string;
  /** The account that created it and that it acts for. */
  readonly accountId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** SHA-256 of the secret, which is not stored. */
  readonly digest: Uint8Array;
  /** Counts the changes of its permissions; `access.changed` carries it. */
  readonly accessEpoch: number;
  readonly createdAt: Date;
  /** The API key that created it, `person` or `first-key`; null when unknown. */
  readonly createdBy: string | null;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

export type CredentialStatus = "active" | "expired" | "revoked";

/** Returns the status of a credential at `now`. */
export function statusOf({ revokedAt, expiresAt }: Credential, now: Date): CredentialStatus {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt <= now ? "expired" : "active";
}

/**
 * The validator of a credential's view and of its hidden secret, so that a rotation needs to know of the previous one.
 * A use does not change it: else a key in use could never be changed under `If-Match`.
 */
export function etagOfCredential({ last_used_at: _, ...state }: CredentialView, { digest }: Credential): string {
  return strongEtag(`${JSON.stringify(state)} ${Buffer.from(digest).toString("base64url")}`, "credential");
}

/** A credential in its owner's view. */
export interface CredentialView {
  readonly id: string;
  readonly last_used_at: string | null;
}

/** A request for a new credential. */
export interface NewCredential {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  /** Roles of the credential; only the first key of a deployment has any. */
  readonly roles?: readonly Role[];
}

/** Names the creator of a credential. A person's token is not named: it ends before anybody would look. */
export const creatorOf = ({ credential: { kind, id } }: Pick<Caller, "credential">): string =>
  kind === "token" ? "person" : id;

/** The end of the caller's key; null when it has none. A person's token has no such end. */
const keyEndOf = ({ credential, expiresAt }: Pick<Caller, "credential" | "expiresAt">): Date | null =>
  credential.kind === "token" ? null : expiresAt;

/** Returns true when a credential with this end would outlive the key that creates it or shows its secret. */
function outlivesKey(caller: Pick<Caller, "credential" | "expiresAt">, expiresAt: Date | null): boolean {
  const end = keyEndOf(caller);
  return end !== null && (expiresAt === null || expiresAt > end);
}

/** Showing a secret gives access: a key that expires may show only secrets that end no later. */
export function requireNoLongerLife(caller: Pick<Caller, "credential" | "expiresAt">, expiresAt: Date | null): void {
  if (!outlivesKey(caller, expiresAt)) return;
  const message = "Your API key expires before the requested secret would.";
  throw new AppError("forbidden", message, { details: [{ field: "expires_at", code: "beyond_creator", message }] });
}

/** The faults of a requested credential; null when there are none. */
export interface NewCredentialProblems {
  readonly outcome: "invalid";
  /** Scopes that only roles and keys can have. */
  readonly privileged: readonly Scope[];
  readonly beyondCreator: readonly Scope[];
  readonly isExpiryPassed: boolean;
  readonly outlivesCreator: boolean;
}

/** Judges a requested credential: it may not have more permissions than its creator. */
export function judgeNewCredential(
  { scopes, expiresAt }: NewCredential,
  caller: Pick<Caller, "scopes" | "credential" | "expiresAt">,
  { mayBePrivileged, now }: { readonly mayBePrivileged: boolean; readonly now: Date },
): NewCredentialProblems | null {
  const privileged = mayBePrivileged ? [] : scopes.filter((scope) => privilegedScopes.has(scope));
  const beyondCreator = scopes.filter((scope) => !caller.scopes.has(scope));
  const isExpiryPassed = expiresAt !== null && expiresAt <= now;
  const outlivesCreator = outlivesKey(caller, expiresAt);
  if (privileged.length + beyondCreator.length === 0 && !isExpiryPassed && !outlivesCreator) return null;
  return { outcome: "invalid", privileged, beyondCreator, isExpiryPassed, outlivesCreator };
}

/** The edge judged the state as of moments ago; the locked row has the present one. */
export const requireWritable = (account: Account): void => requireState(stateOf(account), "write");
