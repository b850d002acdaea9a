import { sameDigest } from "@signalbox/auth";
import type { Scope, ServiceClientResource } from "@signalbox/contracts";
import { strongEtag } from "@signalbox/http";

/** A service client as it is kept: without its secret. */
export interface ServiceClient {
  readonly id: string;
  /** The account that made it, for which it acts. */
  readonly accountId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly digest: Uint8Array;
  /** The secret before the last rotation, and until when it is good; both null when there is none. */
  readonly previousDigest: Uint8Array | null;
  readonly previousUntil: Date | null;
  /** Counts the changes of what the client may do; what access.changed carries. */
  readonly accessEpoch: number;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

export function statusOf(client: ServiceClient, now: Date): ServiceClientResource["status"] {
  if (client.revokedAt !== null) return "revoked";
  return client.expiresAt !== null && client.expiresAt <= now ? "expired" : "active";
}

/** Whether this is the digest of a secret that is good now. Compares all in constant time. */
export function acceptsSecret(client: ServiceClient, digest: Uint8Array, now: Date): boolean {
  const previous = previousSecretUntil(client, now) === null ? null : client.previousDigest;
  return [client.digest, previous].filter((kept) => kept !== null && sameDigest(kept, digest)).length > 0;
}

/** The client as its owner sees it. */
export function viewServiceClient(client: ServiceClient, now: Date): ServiceClientResource {
  return {
    id: client.id,
    name: client.name,
    scopes: [...client.scopes],
    status: statusOf(client, now),
    created_at: client.createdAt.toISOString(),
    expires_at: client.expiresAt?.toISOString() ?? null,
    previous_secret_expires_at: previousSecretUntil(client, now)?.toISOString() ?? null,
    last_used_at: client.lastUsedAt?.toISOString() ?? null,
    revoked_at: client.revokedAt?.toISOString() ?? null,
  };
}

/**
 * The validator of all that is shown of a client, and of its secret, which is not: whoever rotates must know of the last
 * time. Its use moves it too, once a minute at most: no 304 hides when it was last used.
 */
export function etagOfClient(client: ServiceClient, now: Date): string {
  const shown = JSON.stringify(viewServiceClient(client, now));
  return strongEtag(`${shown} ${Buffer.from(client.digest).toString("base64url")}`, "service-client");
}

/** Until when the secret before the last rotation is good; null when only one is. */
export function previousSecretUntil({ previousUntil }: ServiceClient, now: Date): Date | null {
  return previousUntil !== null && previousUntil > now ? previousUntil : null;
}
