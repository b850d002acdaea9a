import type { AccountState, Role, Scope } from "@signalbox/contracts";

/** The verified caller of a request. Operations and stores are asked with `accountId`, never with an id from the input. */
export interface Principal {
  readonly accountId: string;
  readonly state: AccountState;
  /** Counts the account's access changes; of two answers the one with the higher epoch is newer. */
  readonly epoch: number;
  readonly scopes: ReadonlySet<Scope>;
  readonly roles: readonly Role[];
  readonly credential: PrincipalCredential;
  /** The end of the credential; null when it has no end of its own. */
  readonly expiresAt: Date | null;
  /** What flags are decided by, as it was when the credential was asked about. */
  readonly profile?: { readonly locale: string; readonly createdAtMs: number };
}

export interface PrincipalCredential {
  readonly kind: "token" | "api-key" | "client";
  /** The id of the key or client, or `jti:…` / `sub:…` of a token: fit for logs and audit, and what a revocation names. */
  readonly id: string;
  /** Names this one token where `id` names more: a client, or the person whose tokens have no `jti`. */
  readonly tokenId?: string;
  /** The last time that a person proved who they are (`auth_time`, OpenID Connect Core §2), in milliseconds. */
  readonly authTimeMs: number | null;
  /** `iat` of a token of another issuer, 0 when it has none: signing out everywhere ends it by this. */
  readonly issuedAtMs?: number;
}

/** A principal in one request: who asks for an operation, as its audit entry tells. */
export interface Caller extends Principal {
  readonly requestId: string;
  /** Null where it is not known. */
  readonly clientAddress: string | null;
}
