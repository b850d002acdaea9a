import { timeParameter } from "@signalbox/http";
import { z } from "zod";

const name = z.string().min(1).max(256);

/** Filters of a list of entries: query parameters in REST, arguments in GraphQL. An absent member does not narrow. */
export const auditFilter = {
  action: name.optional().describe("An action such as `api_key.revoke`, or a refused operation."),
  outcome: z.enum(["done", "refused"]).optional(),
  subject: name.optional().describe("The id of the subject."),
  actor: name
    .optional()
    .describe(
      "The id of the actor: an account, or its key, client or token. Owners can search for their own credentials.",
    ),
  since: timeParameter().optional().describe("RFC 3339; at this time or later."),
  until: timeParameter().optional().describe("RFC 3339; before this time."),
};

export type AuditFilter = z.output<z.ZodObject<typeof auditFilter>>;

/** The entries in reach: all accounts' or one account's, read by its owner or by an administrator. */
export interface AuditScope {
  readonly accountId?: string;
  readonly byOwner?: boolean;
}
