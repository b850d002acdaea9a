import { z } from "zod";
import { invitationRoles, scopes } from "../access/scopes.ts";
import { accountExample } from "./account.ts";
import { examples, identifier, timestamp } from "./fields.ts";

/** An invitation without its link, as administrators and owners see it. */
export const InvitationResource = z
  .object({
    id: identifier("The invitation"),
    address: z.string().nullable().describe("The invited address; null for a link to pass on by hand."),
    name: z.string().nullable().describe("The person's name, offered at their first sign-in; null when unknown."),
    account_id: identifier("The account that the person joins as a member; null for this deployment").nullable(),
    role: z.enum(invitationRoles).describe("The role that it grants."),
    scopes_max: z
      .array(z.enum(scopes))
      .nullable()
      .describe("Upper limit on the scopes of the role; null for all of them."),
    locale: z.string().describe("The language of the mail, and of the new account."),
    status: z.enum(["open", "accepted", "revoked", "expired"]).describe("Only an `open` one can be accepted."),
    invited_by: identifier("The account that invites"),
    created_at: timestamp,
    expires_at: timestamp,
    mailed_at: timestamp.nullable().describe("Time of the last mail; null for a link."),
    accepted_at: timestamp.nullable(),
    accepted_by: identifier("The account that accepted it").nullable(),
    revoked_at: timestamp.nullable(),
  })
  .meta({ id: "Invitation", description: "An invitation to this deployment or into an account, without its link." })
  .register(examples, {
    example: {
      id: "inv_3kRw8Tq0XbNcY5LfVz2PhM",
      address: "grace@example.org",
      name: "Grace Hopper",
      account_id: null,
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
    },
  });

export type InvitationResource = z.output<typeof InvitationResource>;
