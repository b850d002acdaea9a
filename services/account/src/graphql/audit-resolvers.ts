import type { ConnectionArguments } from "@signalbox/graphql";
import type { Account } from "../accounts/account.ts";
import { type AuditEntry, viewAuditEntry, viewOwnAuditEntry } from "../audit/audit-entry.ts";
import { cursorOf, positionFrom } from "../audit/audit-position.ts";
import type { Verbs } from "../verbs.ts";
import { type AccountContext, allowedToSee } from "./account-resolvers.ts";
import { pageOf } from "./page-of.ts";

/** The audit in the graph. What the reader may see of an actor is decided where the list is read. */
export function auditResolvers({ auditEntries, pageLimits }: Verbs) {
  return {
    Account: {
      auditLog: async ({ id }: Pick<Account, "id">, given: ConnectionArguments, context: AccountContext) => {
        const isAdministrator = allowedToSee(context, id).scopes.has("account:admin");
        const { edges, pageInfo } = await pageOf<AuditEntry>(given, pageLimits, {
          cursorOf,
          read: (limit, cursor) =>
            auditEntries.list(id, { after: cursor === null ? null : positionFrom(cursor), limit }),
        });
        const view = isAdministrator ? viewAuditEntry : viewOwnAuditEntry;
        return { edges: edges.map(({ cursor, node }) => ({ cursor, node: view(node) })), pageInfo };
      },
    },
    AuditEntry: {
      actor: ({ actor }: View) => ({ ...actor, accountId: actor.account_id }),
      requestId: (entry: View) => entry.request_id,
      createdAt: (entry: View) => entry.created_at,
    },
  };
}

type View = ReturnType<typeof viewAuditEntry>;
