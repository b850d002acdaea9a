import type { ApiKey } from "./api-key.ts";

/** A key that another one replaces. `changed` has the wire names of what moved. */
export interface ReplacedKey {
  readonly key: ApiKey;
  readonly changed: string[];
}

/** How long a new key lives: as long as the one it replaces was made to live, from now on; for ever if that had no end. */
export function expiryOfReplacement({ createdAt, expiresAt }: ApiKey, now: Date): Date | null {
  return expiresAt && new Date(now.getTime() + expiresAt.getTime() - createdAt.getTime());
}

/** The old key after its rotation: it ends with the overlap, never later than it would have; without one at once. */
export function replacedKey(key: ApiKey, replacedBy: string, overlapMs: number, now: Date): ReplacedKey {
  const next = { ...key, replacedBy, accessEpoch: key.accessEpoch + 1 };
  if (overlapMs === 0) return { key: { ...next, revokedAt: now }, changed: ["status", "revoked_at", "replaced_by"] };
  const end = new Date(now.getTime() + overlapMs);
  if (key.expiresAt !== null && key.expiresAt <= end) return { key: next, changed: ["replaced_by"] };
  return { key: { ...next, expiresAt: end }, changed: ["expires_at", "replaced_by"] };
}
