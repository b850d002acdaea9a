import { AuditEntryResource, accountExample } from "@signalbox/contracts";
import { createRoutes, listPage, pageOf, pageParameters, refused } from "@signalbox/http";
import { z } from "zod";
import type { AccountStore } from "../accounts/account-store.ts";
import type { AdministratorReads } from "./administrator-reads.ts";
import { viewAuditEntry, viewOwnAuditEntry } from "./audit-entry.ts";
import { auditFilter } from "./audit-filter.ts";
import type { AuditStore } from "./audit-store.ts";

interface AuditRouteDependencies {
  readonly accounts: Pick<AccountStore, "find">;
  readonly auditStore: AuditStore;
  readonly administratorReads: AdministratorReads;
  readonly pageLimits: Parameters<typeof pageParameters>[0];
}

/** The audit of the caller's own account and, for administrators, of one or all accounts. */
export function auditRoutes({ accounts, auditStore, administratorReads, pageLimits }: AuditRouteDependencies) {
  const routes = createRoutes({ errors: "account", exampleIds: { account_id: accountExample.id } });
  const query = z.object({ ...pageParameters(pageLimits), ...auditFilter });

  routes.get("/api/account/audit/", {
    operationId: "auditLog",
    summary: "List the changes and refusals of the account, newest first",
    auth: { scopes: ["account:read"], access: "own-account:read" },
    query,
    responses: { 200: pageOf(AuditEntryResource) },
    handle: ({ principal: { accountId }, query }) =>
      listPage(query, (range) => auditStore.list({ accountId, byOwner: true }, range, query), viewOwnAuditEntry),
  });

  routes.get("/api/accounts/audit/", {
    operationId: "accountsAuditLog",
    summary: "List the changes and refusals of all accounts, newest first",
    auth: { scopes: ["account:admin"] },
    audit: "account.list_audit",
    query,
    responses: { 200: pageOf(AuditEntryResource) },
    async handle({ caller, query }) {
      const page = await listPage(query, (range) => auditStore.list({}, range, query), viewAuditEntry);
      await administratorReads.ofAll(caller, "account.list_audit");
      return page;
    },
  });

  routes.get("/api/accounts/:account_id/audit/", {
    operationId: "accountAuditLog",
    summary: "List the changes and refusals of an account, newest first",
    auth: { scopes: ["account:admin"] },
    audit: "account.read_audit",
    query,
    responses: { 200: pageOf(AuditEntryResource), 404: "error" },
    async handle({ caller, params, query }) {
      const account = await accounts.find(params.account_id);
      if (!account) return refused(404, "not_found");
      const { id: accountId } = account;
      const page = await listPage(query, (range) => auditStore.list({ accountId }, range, query), viewAuditEntry);
      await administratorReads.ofAccount(caller, accountId, "account.read_audit");
      return page;
    },
  });

  return routes;
}
