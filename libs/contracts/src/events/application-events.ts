import { z } from "zod";
import { ApplicationResource } from "../resources/application.ts";
import { changed, exampleOf } from "../resources/fields.ts";
import { defineEvent } from "../topics/define-event.ts";

const applicationEvent = {
  version: 1,
  topic: "signalbox.account.v1",
  subject: "application id",
  /** An application belongs to the deployment, not to the account of the administrator who made it. */
  audience: "operator",
} as const;

/** Events contain nothing about secrets, not even their number. Types, scopes and algorithms may be added. */
const data = ApplicationResource.omit({ secrets: true }).extend({
  type: z.string().describe("Where it runs: `browser`, `server`, `native` or `device`."),
  scopes: z.array(z.string()).describe("The scopes that its tokens may have at most."),
  id_token_signed_response_alg: z
    .string()
    .optional()
    .describe("The algorithm that signs its ID tokens; missing in older events."),
  changed,
});
const { secrets: _, ...example } = exampleOf(ApplicationResource);

export const applicationCreatedEvent = defineEvent({
  ...applicationEvent,
  name: "application.created",
  description: "An administrator created an application that people sign in to.",
  data,
  example: { ...example, changed: [] },
});

export const applicationUpdatedEvent = defineEvent({
  ...applicationEvent,
  name: "application.updated",
  description:
    "An application was changed; `client_secret` in `changed` means that its secret was rotated or the overlap of a rotation ended.",
  data,
  example: { ...example, updated_at: "2026-01-02T10:00:00.000Z", changed: ["client_secret"] },
});

export const applicationDeletedEvent = defineEvent({
  ...applicationEvent,
  name: "application.deleted",
  description: "An application was deleted: nobody can sign in to it any more, and its tokens end.",
  data,
  example: { ...example, changed: [] },
});
