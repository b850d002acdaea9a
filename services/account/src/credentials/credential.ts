import { type Caller, requireState } from "@signalbox/auth";
import { type AccountState, privilegedScopes, type Role, type Scope } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { strongEtag } from "@signalbox/http";

/** What API keys and service clients have in common: a secret that is shown once, and what it is good for. */
export interface Credential {
  readonly id: string;
  /** The account that made it, for which it acts. */
  readonly accountId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** SHA-256 of the secret, which itself is kept nowhere. */
  readonly digest: Uint8Array;
  /** Counts the changes of what it may do; `access.changed` carries it. */
  readonly accessEpoch: number;
  readonly createdAt: Date;
  /** The API key that made it, `person` or `first-key`; null where that was not kept. */
  readonly createdBy: string | null;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

export type CredentialStatus = "active" | "expired" | "revoked";

/** Tells whether a credential works at `now`. */
export function statusOf({ revokedAt, expiresAt }: Credential, now: Date): CredentialStatus {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt <= now ? "expired" : "active";
}

/**
 * The validator of what is shown of a credential, and of its secret, which is not: whoever rotates must know of the last
 * time. Its use is no change of it: else a key in use could never be changed under `If-Match`.
 */
export function etagOfCredential({ last_used_at: _, ...state }: CredentialView, { digest }: Credential): string {
  return strongEtag(`${JSON.stringify(state)} ${Buffer.from(digest).toString("base64url")}`, "credential");
}

/** A credential as its owner sees it. */
export interface CredentialView {
  readonly id: string;
  readonly last_used_at: string | null;
}

/** What somebody asks for when they create a credential. */
export interface NewCredential {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  /** Roles that the credential brings along; only the first key of a deployment has any. */
  readonly roles?: readonly Role[];
}

/** Says who makes a credential. Of a person's tokens none is named: they end before anybody would look. */
export const creatorOf = ({ credential: { kind, id } }: Pick<Caller, "credential">): string =>
  kind === "token" ? "person" : id;

/** The end of the key that a caller came with; null where they have none that ends. A person's token says nothing of them. */
const keyEndOf = ({ credential, expiresAt }: Pick<Caller, "credential" | "expiresAt">): Date | null =>
  credential.kind === "token" ? null : expiresAt;

/** Says that a credential with this end would work after the key has ended that makes it, or shows its secret. */
function outlivesKey(caller: Pick<Caller, "credential" | "expiresAt">, expiresAt: Date | null): boolean {
  const end = keyEndOf(caller);
  return end !== null && (expiresAt === null || expiresAt > end);
}

/** Whoever shows a secret gives access: a key that expires shows none that works after it. */
export function requireNoLongerLife(caller: Pick<Caller, "credential" | "expiresAt">, expiresAt: Date | null): void {
  if (!outlivesKey(caller, expiresAt)) return;
  const message = "The key that you use expires before the secret that you ask for would.";
  throw new AppError("forbidden", message, { details: [{ field: "expires_at", code: "beyond_creator", message }] });
}

/** What is wrong with a new credential; null when nothing is. */
export interface NewCredentialProblems {
  readonly outcome: "invalid";
  /** Scopes that only roles and keys bring. */
  readonly privileged: readonly Scope[];
  readonly beyondCreator: readonly Scope[];
  readonly isExpiryPassed: boolean;
  readonly outlivesCreator: boolean;
}

/** Judges what was asked for: a credential never may do more than who creates it. */
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

/** The edge knows the state of an account as of moments ago; its locked row knows it now. */
export const requireWritable = ({ status }: { readonly status: AccountState }): void =>
  requireState({ state: status }, "write");
