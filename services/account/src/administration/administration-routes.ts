import { AdministeredAccountResource, accountExample } from "@signalbox/contracts";
import {
  createRoutes,
  listPage,
  ok,
  pageOf,
  pageParameters,
  type Routes,
  refused,
  refusedWith,
  strongEtag,
} from "@signalbox/http";
import { z } from "zod";
import { type Account, viewAccount } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { AdministratorReads } from "../audit/administrator-reads.ts";
import { StatusByAdministrator } from "../statuses/status-body.ts";
import { refusedTransition, type Statuses, statusActions } from "../statuses/statuses.ts";
import { AccountByAdministrator, type AccountRoles, refusedRoles, roleActions } from "./account-roles.ts";
import { type AccountSearchStore, accountFilter } from "./account-search-store.ts";

interface AdministrationDependencies {
  readonly accounts: Pick<AccountStore, "find" | "lock">;
  readonly accountSearch: AccountSearchStore;
  readonly statuses: Pick<Statuses, "changeByAdministrator">;
  readonly accountRoles: AccountRoles;
  readonly administratorReads: AdministratorReads;
  readonly pageLimits: Parameters<typeof pageParameters>[0];
}

/** `/api/accounts/`: every account, for administrators. */
export function administrationRoutes(dependencies: AdministrationDependencies) {
  const { accounts, accountSearch, administratorReads, pageLimits } = dependencies;
  const routes = createRoutes({ errors: "account", exampleIds: { account_id: accountExample.id } });

  routes.get("/api/accounts/", {
    operationId: "accounts",
    summary: "List accounts, newest first",
    auth: { scopes: ["account:admin"] },
    audit: "account.list",
    query: z.object({ ...accountFilter, ...pageParameters(pageLimits) }),
    responses: { 200: pageOf(AdministeredAccountResource) },
    async handle({ caller, query }) {
      await administratorReads.ofAll(caller, "account.list");
      return listPage(query, (range) => accountSearch.list(query, range), viewAdministered);
    },
  });

  routes.get("/api/accounts/:account_id", {
    operationId: "account",
    summary: "Read an account",
    auth: { scopes: ["account:admin"] },
    audit: "account.read",
    responses: { 200: AdministeredAccountResource, 404: "error" },
    async handle({ caller, params }) {
      const account = await accounts.find(params.account_id);
      if (!account) return refused(404, "not_found");
      await administratorReads.ofAccount(caller, account.id, "account.read");
      return show(account);
    },
  });

  changeRoutes(routes, dependencies);
  return routes;
}

const show = (account: Account) => ok(viewAdministered(account), { etag: etagOfAdministered(account) });

function changeRoutes(routes: Routes, { accounts, statuses, accountRoles }: AdministrationDependencies): void {
  routes.patch("/api/accounts/:account_id", {
    operationId: "setAccountRoles",
    summary: "Change the roles of an account",
    description:
      "Grants and revokes roles. A change needs a recent sign-in, and every scope of the granted roles. The only administrator keeps the role (409).",
    auth: { scopes: ["account:admin"], stepUpFor: "other roles" },
    audit: roleActions,
    body: { json: AccountByAdministrator, mergePatch: true },
    responses: { 200: AdministeredAccountResource, 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    write: {
      find: (tx, { params }) => accounts.lock(tx, params.account_id),
      etag: etagOfAdministered,
      change: (tx, account, { caller, body: { roles } }) =>
        accountRoles.set(tx, caller, account, roles ?? account.roles),
      answer: (result) => (result.outcome === "changed" ? show(result.account) : refusedWith(refusedRoles(result))),
    },
  });

  routes.post("/api/accounts/:account_id/status", {
    operationId: "setAccountStatus",
    summary: "Change the status of an account",
    description: "A deletion needs a recent sign-in. It can be undone until the personal data is erased.",
    auth: { scopes: ["account:admin"], stepUpFor: "a deletion" },
    audit: statusActions,
    body: StatusByAdministrator,
    responses: { 200: AdministeredAccountResource, 404: "error", 409: "error" },
    idempotent: true,
    write: {
      find: (tx, { params }) => accounts.lock(tx, params.account_id),
      etag: etagOfAdministered,
      change: (tx, account, { caller, body: { status: to, reason } }) =>
        statuses.changeByAdministrator(tx, caller, account, { to, reason }),
      answer: (result) =>
        result.outcome === "changed" ? show(result.account) : refusedWith(refusedTransition(result)),
    },
  });
}

/** Shows the account to administrators. */
function viewAdministered(account: Account): AdministeredAccountResource {
  const self = `/api/accounts/${account.id}`;
  return {
    ...viewAccount(account),
    roles: [...account.roles],
    status_changed_by: account.statusActor,
    recovery_requested_at: account.recoveryRequestedAt?.toISOString() ?? null,
    purged_at: account.purgedAt?.toISOString() ?? null,
    links: { self, status: `${self}/status`, audit: `${self}/audit/` },
  };
}

/**
 * Changes with the recovery request and the roles, which the owner's validator ignores because the owner does not see
 * them.
 */
function etagOfAdministered({ id, revision, roles, recoveryRequestedAt }: Account): string {
  return strongEtag(revision, `administered-account ${id} ${roles.join()} ${recoveryRequestedAt?.getTime() ?? ""}`);
}
