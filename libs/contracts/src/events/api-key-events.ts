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
const { replaces, replaced_by } = ApiKeyResource.shape;
/** Keys were made before they could be rotated, and events of them are still in the log. */
const data = ApiKeyResource.extend({
  changed,
  replaces: replaces.optional(),
  replaced_by: replaced_by.optional(),
});

export const apiKeyCreatedEvent = defineEvent({
  ...shared,
  name: "api_key.created",
  description: "A key was made, also by rotation; the secret is never part of an event.",
  data,
  example: { ...apiKeyExample, changed: [] },
});

export const apiKeyUpdatedEvent = defineEvent({
  ...shared,
  name: "api_key.updated",
  description: "A key was renamed, or another key replaces it and it ends with the overlap.",
  data: ApiKeyResource.extend({ changed }),
  example: { ...apiKeyExample, name: "deploy to production", changed: ["name"] },
});

export const apiKeyRevokedEvent = defineEvent({
  ...shared,
  name: "api_key.revoked",
  description: "A key stopped working: revoked by someone, replaced by rotation, or at its expiry.",
  data: data.extend({ reason: z.enum(["revoked", "rotated", "expired", "account"]) }),
  example: {
    ...apiKeyExample,
    status: "revoked",
    revoked_at: "2026-01-03T08:00:00.000Z",
    changed: ["status", "revoked_at"],
    reason: "revoked",
  },
});
