import type { AccountState, MemberRole, Role, Scope } from "@signalbox/contracts";
import type { PresentedCredential } from "./credential.ts";

/** The verified caller of a request. Operations and stores use its `accountId`, never an id from the input. */
export interface Principal {
  readonly accountId: string;
  readonly state: AccountState;
  /** The change that led to the state, for its owner; absent before the first and where only the state is known. */
  readonly stateChange?: StateChange | undefined;
  /** Counts the account's access changes; of two answers the one with the higher epoch is newer. */
  readonly epoch: number;
  readonly scopes: ReadonlySet<Scope>;
  readonly roles: readonly Role[];
  readonly credential: PrincipalCredential;
  /** Present for a person who acts for an account that is not their own. */
  readonly member?: Member | undefined;
  /** Present for a portal session: it is refused everywhere but at what admits portal sessions, and sees these rows. */
  readonly portal?: Portal | undefined;
  /** The expiry of the credential; null when it does not expire. */
  readonly expiresAt: Date | null;
  /** The attributes that flags are evaluated by, as of the resolution of the credential. */
  readonly profile?: { readonly locale: string; readonly createdAtMs: number };
}

/** The person behind a credential that acts for another account. */
interface Member {
  /** The person's own account. */
  readonly accountId: string;
  readonly role: MemberRole;
  /** The epoch of the person's own account: its changes end this access too. */
  readonly epoch: number;
}

/** The own account of the person behind a credential, or the account of a key or client. */
export const personOf = ({ member, accountId }: Pick<Principal, "member" | "accountId">): string =>
  member?.accountId ?? accountId;

/** The rows that a portal session sees: those of its endpoints, or with null those of every endpoint of its account. */
export interface Portal {
  readonly endpointIds: readonly string[] | null;
}

/** An account, seen as a whole or through a portal session. */
export type Viewer = Pick<Principal, "accountId" | "portal">;

/** The last change of an account's state. */
interface StateChange {
  readonly atMs: number;
  /** The reason given for it. */
  readonly reason: string | null;
}

export interface PrincipalCredential {
  readonly kind: "token" | "api-key" | "client" | "portal";
  /**
   * The id of the key or client, or `jti:…` / `sub:…` of a token: fit for logs and audit, and the name in a revocation.
   */
  readonly id: string;
  /**
   * The name of this one token when `id` covers more: a client, or the person whose tokens have no `jti`. Of a portal
   * session the key or client that made it, whose revocation ends it too.
   */
  readonly tokenId?: string;
  /** Our name of the token's issuer; absent for an API key. */
  readonly issuer?: string;
  /** Time of the person's last sign-in (`auth_time`, OpenID Connect Core §2), in milliseconds. */
  readonly authTimeMs: number | null;
  /** `iat` of a token of another issuer, 0 when it has none. Signing out everywhere ends tokens by it. */
  readonly issuedAtMs?: number;
}

/** A principal in one request: the caller of an operation, for its audit entry. */
export interface Caller extends Principal {
  readonly requestId: string;
  /** Null when unknown. */
  readonly clientAddress: string | null;
}

/**
 * Resolves a credential to a principal, and creates the account of a new identity. The account service knows the
 * answer; every other service asks it.
 */
export interface PrincipalSource {
  /** Throws AppError `unauthorized` for a bad credential, `unavailable` when the answer cannot be found now. */
  resolve(credential: PresentedCredential): Promise<Principal>;
  /**
   * Returns true when a committed access change is missing on the state topic after half a second. Throws AppError
   * `unavailable` when that cannot be found out now.
   */
  hasUnannounced(): Promise<boolean>;
}
