import { z } from "zod";
import { eventScopes, scopesInEvent } from "../access/scopes.ts";
import {
  ApiKeyResource,
  apiKeyExample as keyOfResource,
  PasskeyResource,
  ServiceClientResource,
} from "../resources/credentials.ts";
import { changed, exampleOf } from "../resources/fields.ts";
import { defineEvent } from "../topics/define-event.ts";

const apiKeyExample = { ...keyOfResource, ...scopesInEvent(keyOfResource.scopes) };

const keyEvent = {
  version: 1,
  topic: "signalbox.account.v1",
  subject: "API key id",
  audience: "account",
} as const;
/** A reader of the first version refuses a scope that it does not know. */
const eventScopeMembers = {
  scopes: z.array(z.enum(eventScopes)).describe("The scopes that the first version of this event knows."),
  all_scopes: z.array(z.string()).optional().describe("All scopes, including those added later."),
};
const { replaces, replaced_by } = ApiKeyResource.shape;
/** Keys were made before they could be rotated, and events of them are still in the log. */
const data = ApiKeyResource.extend({
  ...eventScopeMembers,
  changed,
  replaces: replaces.optional(),
  replaced_by: replaced_by.optional(),
});

export const apiKeyCreatedEvent = defineEvent({
  ...keyEvent,
  name: "api_key.created",
  description: "A key was created, possibly by rotation; the secret is never part of an event.",
  data,
  example: { ...apiKeyExample, changed: [] },
});

export const apiKeyUpdatedEvent = defineEvent({
  ...keyEvent,
  name: "api_key.updated",
  description: "A key was renamed, or was replaced by another key and ends with the overlap.",
  data: ApiKeyResource.extend({ ...eventScopeMembers, changed }),
  example: { ...apiKeyExample, name: "deploy to production", changed: ["name"] },
});

export const apiKeyRevokedEvent = defineEvent({
  ...keyEvent,
  name: "api_key.revoked",
  description: "A key stopped working: revoked by someone, replaced by rotation, or at its expiry.",
  data: data.extend({
    reason: z.enum(["revoked", "rotated", "expired", "account"]).describe("The reason for the revocation."),
  }),
  example: {
    ...apiKeyExample,
    status: "revoked",
    revoked_at: "2026-01-03T08:00:00.000Z",
    changed: ["status", "revoked_at"],
    reason: "revoked",
  },
});

const clientEvent = { ...keyEvent, subject: "service client id" } as const;
/** Events contain nothing about secrets, not even their number or expiry. */
const clientData = ServiceClientResource.omit({ secrets: true, previous_secret_expires_at: true }).extend({
  ...eventScopeMembers,
  changed,
});
const { secrets: _, previous_secret_expires_at: __, ...shownClient } = exampleOf(ServiceClientResource);
const clientExample = { ...shownClient, ...scopesInEvent(shownClient.scopes) };

export const serviceClientCreatedEvent = defineEvent({
  ...clientEvent,
  name: "service_client.created",
  description: "A service client was created; its secret is never part of an event.",
  data: clientData,
  example: { ...clientExample, changed: [] },
});

export const serviceClientUpdatedEvent = defineEvent({
  ...clientEvent,
  name: "service_client.updated",
  description: "A service client was renamed, or its secret was rotated.",
  data: clientData,
  example: { ...clientExample, name: "hourly import", changed: ["name"] },
});

export const serviceClientRevokedEvent = defineEvent({
  ...clientEvent,
  name: "service_client.revoked",
  description: "A service client stopped working: revoked by someone, or at its expiry.",
  data: clientData.extend({
    reason: z.enum(["revoked", "expired", "account"]).describe("The reason for the revocation."),
  }),
  example: {
    ...clientExample,
    status: "revoked",
    revoked_at: "2026-01-03T08:00:00.000Z",
    changed: ["status", "revoked_at"],
    reason: "revoked",
  },
});

const passkeyEvent = { ...keyEvent, subject: "passkey id" } as const;
const passkeyData = PasskeyResource.extend({ changed });

export const passkeyCreatedEvent = defineEvent({
  ...passkeyEvent,
  name: "passkey.created",
  description: "A person added a passkey to the account; its key is never part of an event.",
  data: passkeyData,
  example: { ...exampleOf(PasskeyResource), changed: [] },
});

export const passkeyUpdatedEvent = defineEvent({
  ...passkeyEvent,
  name: "passkey.updated",
  description: "A passkey was renamed. Signing in with it does not send this event.",
  data: passkeyData,
  example: { ...exampleOf(PasskeyResource), name: "Old phone", changed: ["name"] },
});

export const passkeyDeletedEvent = defineEvent({
  ...passkeyEvent,
  name: "passkey.deleted",
  description: "A passkey was removed and no longer works. The purge of an account only emits `account.deleted`.",
  data: passkeyData,
  example: { ...exampleOf(PasskeyResource), changed: [] },
});
