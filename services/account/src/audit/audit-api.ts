import { AuditEntryResource, accountExample } from "@signalbox/contracts";
import { connectionField, filterFrom, type PageLimits } from "@signalbox/graphql";
import { listPage, pageOf, pageParameters, type Routes, refused } from "@signalbox/http";
import { type Edges, edgesOf, list } from "@signalbox/service";
import { z } from "zod";
import type { AdministratorReads } from "./administrator-reads.ts";
import { type AuditEntry, auditFilter, viewAuditEntry, viewOwnAuditEntry } from "./audit-entry.ts";
import type { AuditStore } from "./audit-store.ts";

export interface AuditApi {
  readonly accounts: { find(id: string): Promise<{ readonly id: string } | null> };
  readonly auditStore: AuditStore;
  readonly administratorReads: AdministratorReads;
  readonly pageLimits: PageLimits;
}

type Arguments = Readonly<Record<string, unknown>>;

const own = { scopes: ["account:read"], access: "own-account:read" } as const;
const administration = { scopes: ["account:admin"] } as const;
const Filter = z.strictObject(auditFilter);

/** The audit of the caller's own account and, for administrators, of one or all accounts. */
export function auditApi(parts: AuditApi): Edges {
  const { auditStore, pageLimits } = parts;
  const declared = {
    auditLog: list({
      summary: "List the changes and refusals of the account, newest first",
      description: "Each entry has the action, its actor, the request and the names of the fields.",
      auth: own,
      limits: pageLimits,
      filter: auditFilter,
      read: (range, { accountId, filter }) => auditStore.list({ accountId, byOwner: true }, range, filter),
      rest: { get: "/api/account/audit/", item: AuditEntryResource, view: viewOwnAuditEntry },
      // There it reads the lists of many accounts with one statement.
      graph: null,
    }),
  };
  const fields = {
    Query: { accountsAuditLog: logOfAll(parts) },
    Account: { auditLog: logOfAccount(parts) },
    AuditEntry: entryFields,
  };
  const edges = edgesOf(declared, { errors: "account", exampleIds: { account_id: accountExample.id }, fields });
  addAdministratorRoutes(edges.routes, parts);
  return edges;
}

function addAdministratorRoutes(
  routes: Routes,
  { accounts, auditStore, administratorReads, pageLimits }: AuditApi,
): void {
  const query = z.object({ ...pageParameters(pageLimits), ...auditFilter });

  routes.get("/api/accounts/audit/", {
    operationId: "accountsAuditLog",
    summary: "List the changes and refusals of all accounts, newest first",
    description: "For administrators. Each entry names the account that it belongs to.",
    auth: administration,
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
    description: "For administrators; reading them is recorded in the account's audit.",
    auth: administration,
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
}

const logOfAll = ({ auditStore, administratorReads, pageLimits: limits }: AuditApi) =>
  connectionField<unknown, Arguments, AuditEntry>(
    { ...administration, audit: "account.list_audit" },
    {
      limits,
      async read(range, _parent, { caller }, args) {
        const entries = await auditStore.list({}, range, filterFrom(Filter, args));
        await administratorReads.ofAll(caller, "account.list_audit");
        return entries;
      },
      node: viewAuditEntry,
    },
  );

const logOfAccount = ({ auditStore, administratorReads, pageLimits: limits }: AuditApi) =>
  connectionField<{ readonly id: string }, Arguments, AuditEntry>(
    { ...own, ofOthers: { ...administration, access: "read" }, audit: "account.read_audit" },
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
  );

const entryFields = {
  accountId: (entry: AuditEntryResource) => entry.account_id,
  actor: ({ actor }: AuditEntryResource) => ({ ...actor, accountId: actor.account_id }),
  requestId: (entry: AuditEntryResource) => entry.request_id,
  createdAt: (entry: AuditEntryResource) => entry.created_at,
};
