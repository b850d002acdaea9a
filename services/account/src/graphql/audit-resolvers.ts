import { connectionField, type PageLimits } from "@signalbox/graphql";
import type { Account } from "../accounts/account.ts";
import { type AuditEntry, viewAuditEntry, viewOwnAuditEntry } from "../audit/audit-entry.ts";
import type { AuditStore } from "../audit/audit-store.ts";
import type { AccountLoaders } from "./loaders.ts";

interface AuditResolverDependencies {
  readonly auditStore: AuditStore;
  readonly pageLimits: PageLimits;
}

type View = ReturnType<typeof viewAuditEntry>;

/** The audit in the graph. */
export function auditResolvers({ auditStore, pageLimits: limits }: AuditResolverDependencies) {
  return {
    Account: {
      auditLog: connectionField<AccountLoaders, Pick<Account, "id">, object, AuditEntry>(
        {
          scopes: ["account:read"],
          access: "own-account:read",
          ofOthers: { scopes: ["account:admin"], access: "read" },
        },
        {
          limits,
          read: (range, { id }) => auditStore.list(id, range),
          node: (entry, { caller }) =>
            caller.scopes.has("account:admin") ? viewAuditEntry(entry) : viewOwnAuditEntry(entry),
        },
      ),
    },
    AuditEntry: {
      actor: ({ actor }: View) => ({ ...actor, accountId: actor.account_id }),
      requestId: (entry: View) => entry.request_id,
      createdAt: (entry: View) => entry.created_at,
    },
  };
}
