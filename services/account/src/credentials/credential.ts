import { type Caller, digestApiKey, requireState } from "@signalbox/auth";
import {
  apiKeyExample,
  dateInput,
  displayName,
  overlapSeconds,
  privilegedScopes,
  type Role,
  type Scope,
  scopes,
} from "@signalbox/contracts";
import { AppError, type ErrorDetail } from "@signalbox/core";
import { type Refusal, strongEtag } from "@signalbox/http";
import { z } from "zod";
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

const name = displayName.meta({ examples: ["deploy"] });

export const newCredential = (word: string, scopesMeaning: string, scopesMin = 1) =>
  z.strictObject({
    name,
    scopes: z
      .array(z.enum(scopes))
      .min(scopesMin)
      .max(scopes.length)
      .meta({ description: scopesMeaning, examples: [apiKeyExample.scopes] }),
    expires_at: dateInput.nullable().default(null).describe(`Expiry of the ${word}; null, or absent, for none.`),
  });

/** Only the name of a credential can change. */
export const CredentialPatch = z.strictObject({ name }).partial();

export const rotationOf = (secret: string) =>
  z.strictObject({
    overlap_seconds: overlapSeconds(`the old ${secret} keeps working alongside the new one`).default(86_400),
  });

/** A request for a new credential. */
export interface NewCredential {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  /** Roles of the credential; only the first key of a deployment has any. */
  readonly roles?: readonly Role[];
}

/** The account of a new credential, and its creator. */
export interface CredentialOrigin {
  readonly accountId: string;
  readonly createdBy: string;
}

/** The part of a new credential that both kinds have. */
export function freshCredential(
  { accountId, name, scopes, expiresAt, createdBy }: NewCredential & CredentialOrigin,
  { id, secret, now }: { readonly id: string; readonly secret: string; readonly now: Date },
): Credential {
  return {
    id,
    accountId,
    name,
    scopes: [...new Set(scopes)],
    digest: digestApiKey(secret),
    accessEpoch: 0,
    createdAt: now,
    createdBy,
    expiresAt,
    lastUsedAt: null,
    revokedAt: null,
  };
}

/** Names the creator of a credential. A person's token is not named: it ends before anybody would look. */
export const creatorOf = ({ credential: { kind, id } }: Caller): string => (kind === "token" ? "person" : id);

/** The end of the caller's key; null when it has none. A person's token has no such end. */
export const keyEndOf = ({ credential, expiresAt }: Caller): Date | null =>
  credential.kind === "token" ? null : expiresAt;

/** Returns true when a credential with this end would outlive the key that creates it or shows its secret. */
function outlivesKey(caller: Caller, expiresAt: Date | null): boolean {
  const end = keyEndOf(caller);
  return end !== null && (expiresAt === null || expiresAt > end);
}

/** Showing a secret gives access: a key that expires may show only secrets that end no later. */
export function requireNoLongerLife(caller: Caller, expiresAt: Date | null): void {
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
  caller: Caller,
  { mayBePrivileged, now }: { readonly mayBePrivileged: boolean; readonly now: Date },
): NewCredentialProblems | null {
  const privileged = mayBePrivileged ? [] : scopes.filter((scope) => privilegedScopes.has(scope));
  const beyondCreator = scopes.filter((scope) => !caller.scopes.has(scope));
  const isExpiryPassed = expiresAt !== null && expiresAt <= now;
  const outlivesCreator = outlivesKey(caller, expiresAt);
  if (privileged.length + beyondCreator.length === 0 && !isExpiryPassed && !outlivesCreator) return null;
  return { outcome: "invalid", privileged, beyondCreator, isExpiryPassed, outlivesCreator };
}

/** Refuses a requested credential; `word` names its kind. */
export function refusedCredential(
  { privileged, beyondCreator, isExpiryPassed, outlivesCreator }: NewCredentialProblems,
  word: string,
): Refusal {
  const details: ErrorDetail[] = [
    ...privileged.map((scope) => ({
      field: "scopes",
      code: "privileged" as const,
      message: `The scope ${scope} comes from a role or an API key, never from a client.`,
    })),
    ...beyondCreator.map((scope) => ({
      field: "scopes",
      code: "beyond_creator" as const,
      message: `You do not have the scope ${scope}, so a ${word} of yours cannot have it.`,
    })),
  ];
  if (isExpiryPassed) details.push({ field: "expires_at", code: "passed", message: "This time has passed." });
  if (outlivesCreator) {
    const message = `Your API key expires, and a ${word} that it creates cannot live longer.`;
    details.push({ field: "expires_at", code: "beyond_creator", message });
  }
  return { code: "validation_error", message: details[0]?.message ?? "", details };
}

/** The edge judged the state as of moments ago; the locked row has the present one. */
export const requireWritable = (account: Account): void => requireState(stateOf(account), "write");
