import { connectionField, filterFrom, type PageLimits } from "@signalbox/graphql";
import { z } from "zod";
import type { Account } from "../accounts/account.ts";
import type { AdministratorReads } from "../audit/administrator-reads.ts";
import { type AuditEntry, viewAuditEntry, viewOwnAuditEntry } from "../audit/audit-entry.ts";
import { auditFilter } from "../audit/audit-filter.ts";
import type { AuditStore } from "../audit/audit-store.ts";
import type { AccountLoaders } from "./loaders.ts";

interface AuditResolverDependencies {
  readonly auditStore: AuditStore;
  readonly administratorReads: AdministratorReads;
  readonly pageLimits: PageLimits;
}

const Filter = z.strictObject(auditFilter);

type View = ReturnType<typeof viewAuditEntry>;

/** The audit in the graph. */
export function auditResolvers({ auditStore, administratorReads, pageLimits: limits }: AuditResolverDependencies) {
  return {
    Query: {
      accountsAuditLog: connectionField<AccountLoaders, unknown, Record<string, unknown>, AuditEntry>(
        { scopes: ["account:admin"], audit: "account.list_audit" },
        {
          limits,
          async read(range, _parent, { caller }, args) {
            const entries = await auditStore.list({}, range, filterFrom(Filter, args));
            await administratorReads.ofAll(caller, "account.list_audit");
            return entries;
          },
          node: viewAuditEntry,
        },
      ),
    },
    Account: {
      auditLog: connectionField<AccountLoaders, Pick<Account, "id">, Record<string, unknown>, AuditEntry>(
        {
          scopes: ["account:read"],
          access: "own-account:read",
          ofOthers: { scopes: ["account:admin"], access: "read" },
          audit: "account.read_audit",
        },
        {
          limits,
          async readMany(range, accountIds, { caller }, args) {
            const filter = filterFrom(Filter, args);
            if (caller.scopes.has("account:admin")) {
              const entries = await auditStore.listOfAccounts(accountIds, range, filter);
              await Promise.all(accountIds.map((id) => administratorReads.ofAccount(caller, id, "account.read_audit")));
              return entries;
            }
            // Without the scope only the owner is admitted.
            const { accountId } = caller;
            return accountIds.includes(accountId) ? auditStore.list({ accountId, byOwner: true }, range, filter) : [];
          },
          parentId: ({ accountId }) => accountId,
          node: (entry, { caller }) =>
            caller.scopes.has("account:admin") ? viewAuditEntry(entry) : viewOwnAuditEntry(entry),
        },
      ),
    },
    AuditEntry: {
      accountId: (entry: View) => entry.account_id,
      actor: ({ actor }: View) => ({ ...actor, accountId: actor.account_id }),
      requestId: (entry: View) => entry.request_id,
      createdAt: (entry: View) => entry.created_at,
    },
  };
}
