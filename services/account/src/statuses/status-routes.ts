import { AccountResource, examples, timestamp } from "@signalbox/contracts";
import { accepted, createRoutes, noContent, ok, refused, refusedWith } from "@signalbox/http";
import { z } from "zod";
import { type Account, etagOfAccount, viewAccount } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { StatusByOwner } from "./status-body.ts";
import { refusedTransition, type Statuses } from "./statuses.ts";

interface StatusRouteDependencies {
  readonly accounts: Pick<AccountStore, "lock">;
  readonly statuses: Statuses;
}

const RecoveryRequest = z
  .object({ requested_at: timestamp.describe("Since when administrators see the request.") })
  .meta({ id: "RecoveryRequest" })
  .register(examples, { example: { requested_at: "2026-01-03T08:15:00.000Z" } });

const show = (account: Account) => ok(viewAccount(account), { etag: etagOfAccount(account) });

/** The owner's operations on the status: disable, ask for recovery, delete. */
export function statusRoutes({ accounts, statuses }: StatusRouteDependencies) {
  const routes = createRoutes({ errors: "account" });

  routes.post("/api/account/status/", {
    operationId: "disableAccount",
    summary: "Disable the account",
    description: "Only an administrator can make it active again; `POST /api/account/recovery/` asks for that.",
    auth: { scopes: ["account:security"], access: "own-account:write", stepUp: true },
    audit: "account.disable",
    body: StatusByOwner,
    responses: { 200: AccountResource, 404: "error", 409: "error" },
    idempotent: true,
    write: {
      find: (tx, { caller }) => accounts.lock(tx, caller.accountId),
      etag: etagOfAccount,
      change: (tx, account, { caller, body: { status: to, reason } }) =>
        statuses.changeByOwner(tx, caller, account, { to, reason }),
      answer: (result) =>
        result.outcome === "changed" ? show(result.account) : refusedWith(refusedTransition(result)),
    },
  });

  routes.post("/api/account/recovery/", {
    operationId: "requestAccountRecovery",
    summary: "Ask to have the disabled account back",
    description: "Administrators see the request. Asking again changes nothing.",
    auth: { scopes: ["account:write"], access: "recovery" },
    audit: "account.request_recovery",
    responses: { 202: RecoveryRequest, 404: "error", 409: "error" },
    idempotent: true,
    write: {
      find: (tx, { caller }) => accounts.lock(tx, caller.accountId),
      change: (tx, account, { caller }) => statuses.requestRecovery(tx, caller, account),
      answer: (requestedAt) =>
        requestedAt
          ? accepted({ requested_at: requestedAt.toISOString() })
          : refused(409, "conflict", { message: "The account is not disabled." }),
    },
  });

  routes.delete("/api/account/", {
    operationId: "deleteAccount",
    summary: "Delete the account",
    description:
      "Every credential stops working at once. An administrator can undo it until the personal data is erased.",
    auth: { scopes: ["account:security"], access: "deletion", stepUp: true },
    audit: "account.delete",
    responses: { 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    write: {
      find: (tx, { caller }) => accounts.lock(tx, caller.accountId),
      etag: etagOfAccount,
      change: (tx, account, { caller }) => statuses.changeByOwner(tx, caller, account, { to: "deleted", reason: null }),
      answer: (result) => (result.outcome === "changed" ? noContent() : refusedWith(refusedTransition(result))),
    },
  });

  return routes;
}
