import { AuditEntryResource } from "@signalbox/contracts";
import { createRoutes, ok, type Page, pageFrom, pageOf, pageParameters, refused } from "@signalbox/http";
import { z } from "zod";
import type { AccountStore } from "../accounts/account-store.ts";
import { type AuditEntry, viewAuditEntry, viewOwnAuditEntry } from "./audit-entry.ts";
import { cursorOf, positionFrom } from "./audit-position.ts";
import type { AuditStore } from "./audit-store.ts";

interface Dependencies {
  readonly accounts: Pick<AccountStore, "find">;
  readonly auditEntries: AuditStore;
  readonly pageLimits: { readonly maxPageSize: () => number; readonly pageSize: () => number };
}

interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** The audit of the caller's own account, and of any account for administrators. */
export function auditRoutes({ accounts, auditEntries, pageLimits }: Dependencies) {
  const routes = createRoutes({ errors: "account" });
  const query = z.object(pageParameters(pageLimits));

  routes.get("/api/account/audit/", {
    summary: "List what was done to the account, or refused, newest first",
    auth: { scopes: ["account:read"], access: "own-account:read" },
    query,
    responses: { 200: pageOf(AuditEntryResource) },
    async handle({ principal, query }) {
      return ok(await pageFor(principal.accountId, query, viewOwnAuditEntry));
    },
  });

  routes.get("/api/accounts/:account_id/audit/", {
    summary: "List what was done to an account, or refused, newest first",
    auth: { scopes: ["account:admin"] },
    query,
    responses: { 200: pageOf(AuditEntryResource), 404: "error" },
    async handle({ params, query }) {
      const account = await accounts.find(params.account_id);
      return account ? ok(await pageFor(account.id, query, viewAuditEntry)) : refused(404, "not_found");
    },
  });

  return routes;

  async function pageFor(
    accountId: string,
    { limit, cursor }: PageQuery,
    view: (entry: AuditEntry) => AuditEntryResource,
  ): Promise<Page<AuditEntryResource>> {
    const after = cursor === undefined ? null : positionFrom(cursor);
    const entries = await auditEntries.list(accountId, { after, limit: limit + 1 });
    return pageFrom(entries, limit, view, cursorOf);
  }
}
