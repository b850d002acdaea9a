import { createApiKey, digestApiKey, parseApiKey } from "@signalbox/auth";
import { randomId } from "@signalbox/core";
import type { ApiKey } from "./api-key.ts";

type Wanted = Pick<ApiKey, "accountId" | "name" | "scopes" | "roles" | "expiresAt" | "replaces">;

/** A key that nobody has yet. `text` is the key itself, its only copy; of it the digest is kept. */
export function newApiKey(wanted: Wanted, keyEnvironment: string, now: Date): { key: ApiKey; text: string } {
  const { accountId, name, scopes, roles, expiresAt, replaces } = wanted;
  const text = createApiKey(keyEnvironment);
  const key: ApiKey = {
    id: randomId("key"),
    accountId,
    name,
    hint: parseApiKey(text)?.hint ?? "",
    digest: digestApiKey(text),
    scopes: [...new Set(scopes)],
    roles,
    accessEpoch: 0,
    createdAt: now,
    expiresAt,
    lastUsedAt: null,
    revokedAt: null,
    replaces,
    replacedBy: null,
  };
  return { key, text };
}
