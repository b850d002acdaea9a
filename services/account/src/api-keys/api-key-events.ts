import { draft, type EventData } from "@signalbox/contracts";
import { type ApiKey, viewApiKey } from "./api-key.ts";

const about = (key: ApiKey) => ({ subject: key.id, accountId: key.accountId });

export function apiKeyCreated(key: ApiKey) {
  return draft("api_key.created", { ...about(key), data: { ...viewApiKey(key, key.createdAt), changed: [] } });
}

export function apiKeyRevoked(key: ApiKey, reason: EventData<"api_key.revoked">["reason"], now: Date) {
  const data = { ...viewApiKey(key, now), changed: ["status", "revoked_at"], reason };
  return draft("api_key.revoked", { ...about(key), data });
}
