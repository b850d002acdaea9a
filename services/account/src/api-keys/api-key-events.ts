import { draft, type EventData } from "@signalbox/contracts";
import { type ApiKey, viewApiKey } from "./api-key.ts";

const about = (key: ApiKey) => ({ subject: key.id, accountId: key.accountId });

export function apiKeyCreated(key: ApiKey) {
  return draft("api_key.created", { ...about(key), data: { ...viewApiKey(key, key.createdAt), changed: [] } });
}

/** The key was renamed, or ends with the overlap of its rotation. `changed` has wire names. */
export function apiKeyUpdated(key: ApiKey, changed: string[], now: Date) {
  return draft("api_key.updated", { ...about(key), data: { ...viewApiKey(key, now), changed } });
}

export function apiKeyRevoked(key: ApiKey, reason: EventData<"api_key.revoked">["reason"], now: Date) {
  const changed = key.revokedAt === null ? ["status"] : ["status", "revoked_at"];
  const data = { ...viewApiKey(key, now), changed, reason };
  return draft("api_key.revoked", { ...about(key), data });
}
