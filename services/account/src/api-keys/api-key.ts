import type { ApiKeyResource, Role, Scope } from "@signalbox/contracts";
import { strongEtag } from "@signalbox/http";

/** An API key as it is kept: without the key itself. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly hint: string;
  readonly digest: Uint8Array;
  readonly scopes: readonly Scope[];
  readonly roles: readonly Role[];
  /** Counts the changes of what the key may do; what access.changed carries. */
  readonly accessEpoch: number;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
  /** By rotation: the id of the key that this one replaces, and of the key that replaces this one. */
  readonly replaces: string | null;
  readonly replacedBy: string | null;
}

export type ApiKeyStatus = ApiKeyResource["status"];

export function statusOf(key: ApiKey, now: Date): ApiKeyStatus {
  if (key.revokedAt !== null) return "revoked";
  return key.expiresAt !== null && key.expiresAt <= now ? "expired" : "active";
}

/** The key as its owner sees it. */
export function viewApiKey(key: ApiKey, now: Date): ApiKeyResource {
  return {
    id: key.id,
    name: key.name,
    hint: key.hint,
    scopes: [...key.scopes],
    roles: [...key.roles],
    status: statusOf(key, now),
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    replaces: key.replaces,
    replaced_by: key.replacedBy,
  };
}

/** The validator of all that is shown of a key. Its use moves it too, once a minute at most: no 304 hides when it was last used. */
export const etagOfApiKey = (key: ApiKey, now: Date): string =>
  strongEtag(JSON.stringify(viewApiKey(key, now)), "api-key");
