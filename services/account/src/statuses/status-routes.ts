import { AccountResource, timestamp } from "@signalbox/contracts";
import { accepted, createRoutes, type HttpResponse, ifMatch, noContent, ok, refused } from "@signalbox/http";
import { z } from "zod";
import { type Account, viewAccount } from "../accounts/account.ts";
import { etagOfAccount } from "../accounts/account-routes.ts";
import { actorOf } from "../audit/actor.ts";
import type { ChangeAccountStatusOutcome, ChangeAccountStatusVerb } from "./change-account-status.ts";
import type { RequestRecoveryVerb } from "./request-recovery.ts";
import { StatusByOwner } from "./status-body.ts";

interface Dependencies {
  readonly changeAccountStatus: ChangeAccountStatusVerb;
  readonly requestRecovery: RequestRecoveryVerb;
}

const RecoveryRequest = z
  .object({ requested_at: timestamp.describe("Since when administrators see the request.") })
  .meta({ id: "RecoveryRequest" });

/** How an owner turns the account off, asks to have it back, and deletes it. */
export function statusRoutes({ changeAccountStatus, requestRecovery }: Dependencies) {
  const routes = createRoutes({ errors: "account" });

  routes.post("/api/account/status/", {
    summary: "Disable the account",
    description: "Only an administrator can make it active again; `POST /api/account/recovery/` asks for that.",
    auth: { scopes: ["account:security"], access: "own-account:write", stepUp: true },
    body: StatusByOwner,
    responses: { 200: AccountResource, 404: "error", 409: "error" },
    idempotent: true,
    async handle(input) {
      const answer = (account: Account) => ok(viewAccount(account), { etag: etagOfAccount(account) });
      const { principal, body } = input;
      const result = await changeAccountStatus({
        accountId: principal.accountId,
        to: body.status,
        reason: body.reason,
        principal,
        by: actorOf(input),
        expect: (account) => ifMatch(input, etagOfAccount(account)),
        alongside: (tx, account) => input.idempotency.complete(tx, answer(account)),
      });
      return result.outcome === "changed" ? answer(result.account) : transitionRefused(result, body.status);
    },
  });

  routes.post("/api/account/recovery/", {
    summary: "Ask to have the disabled account back",
    description: "Administrators see the request. Asking again changes nothing.",
    auth: { scopes: ["account:write"], access: "recovery" },
    responses: { 202: RecoveryRequest, 404: "error", 409: "error" },
    idempotent: true,
    async handle(input) {
      const answer = (requestedAt: Date) => accepted({ requested_at: requestedAt.toISOString() });
      const result = await requestRecovery({
        accountId: input.principal.accountId,
        by: actorOf(input),
        alongside: (tx, requestedAt) => input.idempotency.complete(tx, answer(requestedAt)),
      });
      switch (result.outcome) {
        case "requested":
          return answer(result.requestedAt);
        case "not-disabled":
          return refused(409, "conflict", { message: "The account is not disabled." });
        case "not-found":
          return refused(404, "not_found");
      }
    },
  });

  routes.delete("/api/account/", {
    summary: "Delete the account",
    description: "Nothing works any more at once. An administrator can undo it until the personal data is erased.",
    auth: { scopes: ["account:security"], access: "deletion", stepUp: true },
    responses: { 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    async handle(input) {
      const result = await changeAccountStatus({
        accountId: input.principal.accountId,
        to: "deleted",
        reason: null,
        principal: input.principal,
        by: actorOf(input),
        expect: (account) => ifMatch(input, etagOfAccount(account)),
        alongside: (tx) => input.idempotency.complete(tx, noContent()),
      });
      return result.outcome === "changed" ? noContent() : transitionRefused(result, "deleted");
    },
  });

  return routes;
}

/** The answer to a change of status that was not made. */
export function transitionRefused(
  result: Exclude<ChangeAccountStatusOutcome, { outcome: "changed" }>,
  to: string,
): HttpResponse {
  if (result.outcome === "not-found") return refused(404, "not_found");
  const message = `The account is ${result.from}; that does not lead to ${to}.`;
  return refused(409, "conflict", { message, details: [{ field: "status", code: `from_${result.from}`, message }] });
}
