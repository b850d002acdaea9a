import { AdministeredAccountResource } from "@signalbox/contracts";
import {
  createRoutes,
  cursorByTime,
  ifMatch,
  ok,
  pageFrom,
  pageOf,
  pageParameters,
  readTimeCursor,
  refused,
} from "@signalbox/http";
import { z } from "zod";
import type { Account } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { actorOf } from "../audit/actor.ts";
import type { ChangeAccountStatusVerb } from "../statuses/change-account-status.ts";
import { StatusByAdministrator } from "../statuses/status-body.ts";
import { transitionRefused } from "../statuses/status-routes.ts";
import { accountFilter, filterFrom } from "./account-filter.ts";
import type { AccountSearchStore } from "./account-search-store.ts";
import { etagOfAdministered, viewAdministered } from "./administered-account.ts";

interface Dependencies {
  readonly accounts: Pick<AccountStore, "find">;
  readonly accountSearch: AccountSearchStore;
  readonly changeAccountStatus: ChangeAccountStatusVerb;
  readonly pageLimits: { readonly maxPageSize: () => number; readonly pageSize: () => number };
}

/** `/api/accounts/`: every account, for administrators. */
export function administrationRoutes({ accounts, accountSearch, changeAccountStatus, pageLimits }: Dependencies) {
  const routes = createRoutes({ errors: "account" });
  const answer = (account: Account) => ok(viewAdministered(account), { etag: etagOfAdministered(account) });

  routes.get("/api/accounts/", {
    summary: "List accounts, newest first",
    auth: { scopes: ["account:admin"] },
    query: z.object({ ...accountFilter, ...pageParameters(pageLimits) }),
    responses: { 200: pageOf(AdministeredAccountResource) },
    async handle({ query }) {
      const after = query.cursor === undefined ? null : readTimeCursor(query.cursor);
      const found = await accountSearch.list(filterFrom(query), { after, limit: query.limit + 1 });
      return ok(pageFrom(found, query.limit, viewAdministered, cursorByTime));
    },
  });

  routes.get("/api/accounts/:account_id", {
    summary: "Read an account",
    auth: { scopes: ["account:admin"] },
    responses: { 200: AdministeredAccountResource, 404: "error" },
    async handle({ params }) {
      const account = await accounts.find(params.account_id);
      return account ? answer(account) : refused(404, "not_found");
    },
  });

  routes.post("/api/accounts/:account_id/status", {
    summary: "Change the status of an account",
    description: "A deletion needs a recent sign-in. It can be undone until the personal data is erased.",
    auth: { scopes: ["account:admin"], stepUpFor: "a deletion" },
    body: StatusByAdministrator,
    responses: { 200: AdministeredAccountResource, 404: "error", 409: "error" },
    idempotent: true,
    async handle(input) {
      const { params, body, principal } = input;
      const result = await changeAccountStatus({
        accountId: params.account_id,
        to: body.status,
        reason: body.reason,
        principal,
        by: actorOf(input, "administrator"),
        expect: (account) => ifMatch(input, etagOfAdministered(account)),
        alongside: (tx, account) => input.idempotency.complete(tx, answer(account)),
      });
      return result.outcome === "changed" ? answer(result.account) : transitionRefused(result, body.status);
    },
  });

  return routes;
}
