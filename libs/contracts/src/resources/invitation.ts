import { z } from "zod";
import { roles, scopes } from "../access/scopes.ts";
import { accountExample } from "./account.ts";
import { examples, identifier, timestamp } from "./fields.ts";

export const invitationStatuses = ["open", "accepted", "revoked", "expired"] as const;

/** An invitation without its link, as administrators see it. */
export const InvitationResource = z
  .object({
    id: identifier("The invitation"),
    address: z.string().nullable().describe("The invited address; null for a link that is passed on by hand."),
    role: z.enum(roles).describe("The role that it brings."),
    scopes_max: z
      .array(z.enum(scopes))
      .nullable()
      .describe("The scopes that the role brings at most; null for all scopes of the role."),
    locale: z.string().describe("The language of the mail, and of the new account."),
    status: z.enum(invitationStatuses).describe("`open` ones can be accepted."),
    invited_by: identifier("The account that invites"),
    created_at: timestamp,
    expires_at: timestamp,
    mailed_at: timestamp.nullable().describe("Time of the last mail; null for a link."),
    accepted_at: timestamp.nullable(),
    accepted_by: identifier("The account that accepted it").nullable(),
    revoked_at: timestamp.nullable(),
  })
  .meta({ id: "Invitation", description: "An invitation to this deployment, without its link." });

export type InvitationResource = z.output<typeof InvitationResource>;

export const invitationExample: InvitationResource = {
  id: "inv_3kRw8Tq0XbNcY5LfVz2PhM",
  address: "grace@example.org",
  role: "operator",
  scopes_max: null,
  locale: "en",
  status: "open",
  invited_by: accountExample.id,
  created_at: "2026-01-01T09:00:00.000Z",
  expires_at: "2026-01-08T09:00:00.000Z",
  mailed_at: "2026-01-01T09:00:00.000Z",
  accepted_at: null,
  accepted_by: null,
  revoked_at: null,
};

examples.add(InvitationResource, { example: invitationExample });
