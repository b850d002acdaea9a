import { AuditEntryResource, accountExample, viewOf } from "@signalbox/contracts";
import { connectionField, filterFrom, listPage, pageOf, pageParameters, type Routes, refused } from "@signalbox/http";
import { type Edges, edgesOf, list } from "@signalbox/service";
import { z } from "zod";
import type { AccountService } from "../context/account-service.ts";
import { type AuditEntry, auditFilter } from "./audit-entry.ts";
import { recordReadOfAccount, recordReadOfAll } from "./audit-log.ts";
import { listAuditEntries, listAuditOfAccounts } from "./audit-store.ts";

type Arguments = Readonly<Record<string, unknown>>;

const own = { scopes: ["account:read"], access: "own-account:read" } as const;
const administration = { scopes: ["account:admin"] } as const;
const Filter = z.strictObject(auditFilter);

type Actor = AuditEntryResource["actor"];

/** Shows the whole entry to administrators. */
const viewAuditEntry = viewOf(AuditEntryResource, (entry: AuditEntry) => ({
  outcome: entry.outcome as AuditEntryResource["outcome"],
  actor: {
    kind: entry.actorKind as Actor["kind"],
    account_id: entry.actorAccountId,
    credential: entry.actorCredential,
    address: entry.actorAddress,
  },
}));

/** Shows the entry to the account's owner, without an administrator's credential and address. */
export function viewOwnAuditEntry(entry: AuditEntry): AuditEntryResource {
  const view = viewAuditEntry(entry);
  if (entry.actorKind === "owner" || entry.actorAccountId === entry.accountId) return view;
  return { ...view, actor: { ...view.actor, credential: null, address: null } };
}

/** The audit of the caller's own account and, for administrators, of one or all accounts. */
export function auditApi(service: AccountService): Edges {
  const declared = {
    auditLog: list({
      summary: "List the changes and refusals of the account, newest first",
      description: "Each entry has the action, the actor, the request and the names of the changed fields.",
      auth: own,
      limits: service.pageLimits,
      filter: auditFilter,
      read: (range, { accountId, filter }) => listAuditEntries(service, { accountId, byOwner: true }, range, filter),
      rest: { get: "/api/account/audit/", item: AuditEntryResource, view: viewOwnAuditEntry },
      // There it reads the lists of many accounts with one statement.
      graph: null,
    }),
  };
  const fields = {
    Query: { accountsAuditLog: logOfAll(service) },
    Account: { auditLog: logOfAccount(service) },
    AuditEntry: entryFields,
  };
  const edges = edgesOf(declared, { errors: "account", exampleIds: { account_id: accountExample.id }, fields });
  addAdministratorRoutes(service, edges.routes);
  return edges;
}

function addAdministratorRoutes(service: AccountService, routes: Routes): void {
  const query = z.object({ ...pageParameters(service.pageLimits), ...auditFilter });

  routes.get("/api/accounts/audit/", {
    operationId: "accountsAuditLog",
    summary: "List the changes and refusals of all accounts, newest first",
    description: "For administrators. Each entry names the account that it belongs to.",
    auth: administration,
    audit: "account.list_audit",
    query,
    responses: { 200: pageOf(AuditEntryResource) },
    async handle({ caller, query }) {
      const page = await listPage(query, (range) => listAuditEntries(service, {}, range, query), viewAuditEntry);
      await recordReadOfAll(service, caller, "account.list_audit");
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
      const account = await service.accountStore.find(params.account_id);
      if (!account) return refused(404, "not_found");
      const { id: accountId } = account;
      const page = await listPage(
        query,
        (range) => listAuditEntries(service, { accountId }, range, query),
        viewAuditEntry,
      );
      await recordReadOfAccount(service, caller, accountId, "account.read_audit");
      return page;
    },
  });
}

const logOfAll = (service: AccountService) =>
  connectionField<unknown, Arguments, AuditEntry>(
    { ...administration, audit: "account.list_audit" },
    {
      limits: service.pageLimits,
      async read(range, _parent, { caller }, args) {
        const entries = await listAuditEntries(service, {}, range, filterFrom(Filter, args));
        await recordReadOfAll(service, caller, "account.list_audit");
        return entries;
      },
      node: viewAuditEntry,
    },
  );

const logOfAccount = (service: AccountService) =>
  connectionField<{ readonly id: string }, Arguments, AuditEntry>(
    { ...own, ofOthers: { ...administration, access: "read" }, audit: "account.read_audit" },
    {
      limits: service.pageLimits,
      async readMany(range, accountIds, { caller }, args) {
        const filter = filterFrom(Filter, args);
        if (caller.scopes.has("account:admin")) {
          const entries = await listAuditOfAccounts(service, accountIds, range, filter);
          await Promise.all(accountIds.map((id) => recordReadOfAccount(service, caller, id, "account.read_audit")));
          return entries;
        }
        // Without the scope only the owner is admitted.
        const { accountId } = caller;
        return accountIds.includes(accountId)
          ? listAuditEntries(service, { accountId, byOwner: true }, range, filter)
          : [];
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
