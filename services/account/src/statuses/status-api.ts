import { AccountResource, examples, timestamp } from "@signalbox/contracts";
import { accepted, type HttpResponse, ok } from "@signalbox/http";
import { type Edges, edgesOf, operation } from "@signalbox/service";
import { z } from "zod";
import { type Account, etagOfAccount, viewAccount } from "../accounts/account.ts";
import type { AccountService } from "../context/account-service.ts";
import { ownAccount } from "../profile/account-api.ts";
import { changeStatusByOwner, refusedTransition, requestRecovery, StatusByOwner } from "./statuses.ts";

const RecoveryRequest = z
  .object({ requested_at: timestamp.describe("When the recovery was requested; administrators see the request.") })
  .meta({ id: "RecoveryRequest" })
  .register(examples, { example: { requested_at: "2026-01-03T08:15:00.000Z" } });

const show = (account: Account): HttpResponse => ok(viewAccount(account), { etag: etagOfAccount(account) });

const refusals = { "no-transition": refusedTransition, "last-administrator": refusedTransition } as const;

/** The owner disables the account, asks for it back, deletes it: over REST alone, as what ends the use of the graph. */
export function statusApi(service: AccountService): Edges {
  const unchanged = { ...ownAccount(service), etag: etagOfAccount };
  const declarations = {
    disableAccount: operation({
      summary: "Disable the account",
      description: "Only an administrator can make it active again; `POST /api/account/recovery/` asks for that.",
      auth: { scopes: ["account:security"], access: "own-account:write", stepUp: true, ownAccount: true },
      audit: "account.disable",
      input: StatusByOwner,
      of: unchanged,
      change: (tx, account, { caller, input: { status: to, reason } }) =>
        changeStatusByOwner(service, tx, caller, account, { to, reason }),
      refusals,
      rest: {
        post: "/api/account/status/",
        responses: { 200: AccountResource },
        idempotent: true,
        answer: ({ account }) => show(account),
      },
    }),
    requestAccountRecovery: operation({
      summary: "Request the recovery of the disabled account",
      description: "Administrators see the request. Asking again changes nothing.",
      auth: { scopes: ["account:write"], access: "recovery", ownAccount: true },
      audit: "account.request_recovery",
      of: ownAccount(service),
      change: (tx, account, { caller }) => requestRecovery(service, tx, caller, account),
      refusals: { "not-disabled": { code: "conflict", message: "The account is not disabled." } },
      rest: {
        post: "/api/account/recovery/",
        responses: { 202: RecoveryRequest },
        idempotent: true,
        answer: ({ at }) => accepted({ requested_at: at.toISOString() }),
      },
    }),
    deleteAccount: operation({
      summary: "Delete the account",
      description:
        "Every credential stops working at once. An administrator can undo it until the personal data is erased.",
      auth: { scopes: ["account:security"], access: "deletion", stepUp: true, ownAccount: true },
      audit: "account.delete",
      of: unchanged,
      change: (tx, account, { caller }) =>
        changeStatusByOwner(service, tx, caller, account, { to: "deleted", reason: null }),
      refusals,
      rest: { delete: "/api/account/", responses: { 204: "empty" }, idempotent: true },
    }),
  };
  return edgesOf(declarations, { errors: "account" });
}
