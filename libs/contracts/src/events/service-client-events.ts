import { z } from "zod";
import { defineEvent } from "../define-event.ts";
import { changed } from "../resources/fields.ts";
import { ServiceClientResource, serviceClientExample } from "../resources/service-client.ts";

const shared = {
  version: 1,
  topic: "signalbox.account.v1",
  subject: "service client id",
  audience: "account",
} as const;
/** Events say nothing of secrets, not even until when one works. */
const data = ServiceClientResource.omit({ previous_secret_expires_at: true }).extend({ changed });
const { previous_secret_expires_at: _, ...example } = serviceClientExample;

export const serviceClientCreatedEvent = defineEvent({
  ...shared,
  name: "service_client.created",
  description: "A service client was created; its secret is never part of an event.",
  data,
  example: { ...example, changed: [] },
});

export const serviceClientUpdatedEvent = defineEvent({
  ...shared,
  name: "service_client.updated",
  description: "A service client was renamed, or has another secret.",
  data,
  example: { ...example, name: "hourly import", changed: ["name"] },
});

export const serviceClientRevokedEvent = defineEvent({
  ...shared,
  name: "service_client.revoked",
  description: "A service client stopped working: revoked by someone, or at its expiry.",
  data: data.extend({ reason: z.enum(["revoked", "expired", "account"]) }),
  example: {
    ...example,
    status: "revoked",
    revoked_at: "2026-01-03T08:00:00.000Z",
    changed: ["status", "revoked_at"],
    reason: "revoked",
  },
});
