import { z } from "zod";
import { changed, exampleOf, identifier, timestamp } from "../resources/fields.ts";
import { InvitationResource } from "../resources/invitation.ts";
import { MembershipResource } from "../resources/membership.ts";
import { defineEvent } from "../topics/define-event.ts";

const memberEvent = {
  version: 1,
  topic: "signalbox.account.v1",
  /** The changes of one account's members stay in their order. */
  subject: "account id",
  audience: "account",
} as const;

/** Without names: a reader that may see them asks for them. */
const data = MembershipResource.omit({ account_name: true, member_name: true }).extend({
  role: z.string().describe("`viewer`, `developer` or `owner`."),
  changed,
});
const { account_name: _account, member_name: _member, ...example } = exampleOf(MembershipResource);

export const memberInvitedEvent = defineEvent({
  ...memberEvent,
  name: "member.invited",
  description: "A person was invited into the account. The address is left out.",
  data: z.object({
    account_id: data.shape.account_id,
    invitation_id: identifier("The invitation"),
    role: data.shape.role,
    invited_by: data.shape.invited_by,
    expires_at: timestamp,
    changed,
  }),
  example: {
    account_id: example.account_id,
    invitation_id: exampleOf(InvitationResource).id,
    role: "developer",
    invited_by: example.account_id,
    expires_at: "2026-01-08T09:00:00.000Z",
    changed: [],
  },
});

export const memberJoinedEvent = defineEvent({
  ...memberEvent,
  name: "member.joined",
  description: "An invited person accepted and may act for the account.",
  data,
  example: { ...example, changed: [] },
});

export const memberRoleChangedEvent = defineEvent({
  ...memberEvent,
  name: "member.role_changed",
  description: "A member of the account has another role.",
  data: data.extend({ previous_role: z.string().describe("The role before the change.") }),
  example: { ...example, role: "owner", changed: ["role"], previous_role: "developer" },
});

export const memberLeftEvent = defineEvent({
  ...memberEvent,
  name: "member.left",
  description: "A person left the account or was removed by an owner.",
  data: data.extend({ reason: z.string().describe("`left`, `removed`, or `deleted` with the person's own account.") }),
  example: { ...example, changed: [], reason: "removed" },
});
