import { timeParameter } from "@signalbox/http";
import { z } from "zod";
import type { Prisma } from "../generated/prisma/client.ts";

const name = z.string().min(1).max(256);

/** Narrows a list of entries: the query parameters of REST, and the arguments of GraphQL. An absent member does not narrow. */
export const auditFilter = {
  action: name.optional().describe("An action such as `api_key.revoke`, or an operation that was refused."),
  outcome: z.enum(["done", "refused"]).optional(),
  subject: name.optional().describe("The id of what was touched."),
  actor: name
    .optional()
    .describe(
      "The id of the account that acted, or of its key, client or token. Owners find credentials of their own.",
    ),
  since: timeParameter().optional().describe("RFC 3339; at this time or later."),
  until: timeParameter().optional().describe("RFC 3339; before this time."),
};

export type AuditFilter = z.output<z.ZodObject<typeof auditFilter>>;

/** Whose audit is read: that of all accounts, or of one, by its owner or by an administrator. */
export interface AuditScope {
  readonly accountId?: string;
  readonly byOwner?: boolean;
}

/** What an entry must be, besides its time. */
export function whereOf(
  scope: AuditScope,
  { action, outcome, subject, actor }: AuditFilter,
): Prisma.AuditEntryWhereInput {
  const { accountId } = scope;
  return {
    ...(accountId !== undefined && { accountId }),
    ...(action !== undefined && { action }),
    ...(outcome !== undefined && { outcome }),
    ...(subject !== undefined && { subject }),
    ...(actor !== undefined && whereActor(scope, actor)),
  };
}

/** An owner does not see the credentials of administrators, and does not find out by asking for them either. */
function whereActor({ accountId, byOwner }: AuditScope, actor: string): Prisma.AuditEntryWhereInput {
  if (!actor.startsWith("acc_")) return { actorCredential: actor, ...(byOwner && { actorAccountId: accountId }) };
  // What others did to an account they did as administrators, which has an index of its own.
  const asOther = { actorAccountId: actor, actorKind: { not: "owner" } };
  if (accountId === undefined) return { OR: [{ accountId: actor, actorAccountId: actor }, asOther] };
  return accountId === actor ? { actorAccountId: actor } : asOther;
}
