import { z } from "zod";
import { roles } from "../access/scopes.ts";
import { changed, exampleOf } from "../resources/fields.ts";
import { InvitationResource } from "../resources/invitation.ts";
import { defineEvent } from "../topics/define-event.ts";

const topic = "signalbox.account.v1";
const subject = "invitation id";
/** Addresses of people who are no customers yet are for operators only. */
const audience = "operator";
/** Invitations into an account are `member.invited`. */
const data = InvitationResource.omit({ account_id: true, name: true }).extend({
  role: z.enum(roles).describe("The role that it grants."),
  changed,
});
const { account_id: _, name: _name, ...resource } = exampleOf(InvitationResource);
const example = { ...resource, role: "operator" as const };

export const invitationCreatedEvent = defineEvent({
  name: "invitation.created",
  version: 1,
  topic,
  subject,
  audience,
  description: "An administrator invited a person, by address or by a link.",
  data,
  example: { ...example, changed: [] },
});

export const invitationAcceptedEvent = defineEvent({
  name: "invitation.accepted",
  version: 1,
  topic,
  subject,
  audience,
  description: "The invited person accepted, with a new account or with an existing one.",
  data,
  example: {
    ...example,
    status: "accepted",
    accepted_at: "2026-01-02T10:00:00.000Z",
    accepted_by: "acc_8Wd3Hq6NpTzV1sJxK4mRbG",
    changed: ["status", "accepted_at", "accepted_by"],
  },
});

export const invitationRevokedEvent = defineEvent({
  name: "invitation.revoked",
  version: 1,
  topic,
  subject,
  audience,
  description: "An administrator revoked an invitation that nobody had accepted.",
  data,
  example: {
    ...example,
    status: "revoked",
    revoked_at: "2026-01-02T10:00:00.000Z",
    changed: ["status", "revoked_at"],
  },
});
