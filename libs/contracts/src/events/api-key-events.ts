import { z } from "zod";
import { defineEvent } from "../define-event.ts";
import { ApiKeyResource, apiKeyExample } from "../resources/api-key.ts";
import { changed } from "../resources/fields.ts";

const shared = {
  version: 1,
  topic: "signalbox.account.v1",
  subject: "API key id",
  audience: "account",
} as const;
const data = ApiKeyResource.extend({ changed });

export const apiKeyCreated = defineEvent({
  ...shared,
  name: "api_key.created",
  description: "A key was made, also by rotation; the secret is never part of an event.",
  data,
  example: { ...apiKeyExample, changed: [] },
});

export const apiKeyRevoked = defineEvent({
  ...shared,
  name: "api_key.revoked",
  description: "A key stopped working: revoked by someone, or at its expiry.",
  data: data.extend({ reason: z.enum(["revoked", "rotated", "expired", "account"]) }),
  example: {
    ...apiKeyExample,
    status: "revoked",
    revoked_at: "2026-01-03T08:00:00.000Z",
    changed: ["status", "revoked_at"],
    reason: "revoked",
  },
});
