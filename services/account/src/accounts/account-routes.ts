import type { Principal } from "@signalbox/auth";
import { AccountResource } from "@signalbox/contracts";
import { createRoutes, type HttpResponse, ifMatch, ok, type RouteInput, refused, strongEtag } from "@signalbox/http";
import { actorOf } from "../audit/actor.ts";
import { type Account, viewAccount } from "./account.ts";
import { accountPatch, accountReplacement } from "./account-body.ts";
import type { AccountStore } from "./account-store.ts";
import { callersBody } from "./callers-body.ts";
import type { AccountChanges } from "./change-account.ts";
import type { UpdateAccountVerb } from "./update-account.ts";

interface Dependencies {
  readonly accounts: Pick<AccountStore, "find">;
  readonly updateAccount: UpdateAccountVerb;
  readonly supportedLocales: () => readonly string[];
}

/** The validator of the account's view. The id is part of it: one path shows every caller their own account. */
export const etagOfAccount = (account: Account): string => strongEtag(account.revision, `account ${account.id}`);

const write = {
  scopes: ["account:write"],
  access: "own-account:write",
  stepUpFor: "another contact address or none",
} as const;
const responses = { 200: AccountResource, 204: "empty", 404: "error", 409: "error" } as const;

/** `/api/account/`: the caller's own account. */
export function accountRoutes({ accounts, updateAccount, supportedLocales }: Dependencies) {
  const routes = createRoutes({ errors: "account" });

  routes.get("/api/account/", {
    summary: "Read the account",
    auth: { scopes: ["account:read"], access: "own-account:read" },
    responses: { 200: AccountResource, 404: "error" },
    async handle({ principal }) {
      const account = await accounts.find(principal.accountId);
      if (!account) return refused(404, "not_found");
      return ok(viewAccount(account), { etag: etagOfAccount(account) });
    },
  });

  routes.patch("/api/account/", {
    summary: "Change the account",
    description:
      "A merge patch: absent members stay, null clears `contact_address`, unless it is the only way into the account (409).",
    auth: write,
    body: { ...callersBody(accounts, (present) => accountPatch(supportedLocales, present)), mergePatch: true },
    responses,
    idempotent: true,
    handle: change,
  });

  routes.put("/api/account/", {
    summary: "Replace the account's writable members",
    description: "An absent `contact_address` is cleared; any other absent member is refused.",
    auth: write,
    body: callersBody(accounts, (present) => accountReplacement(supportedLocales, present)),
    responses,
    handle: change,
  });

  return routes;

  async function change(input: RouteInput<Principal, unknown, unknown, AccountBody>): Promise<HttpResponse> {
    const answer = (account: Account) => ok(viewAccount(account), { etag: etagOfAccount(account) });
    const result = await updateAccount({
      principal: input.principal,
      changes: changesFrom(input.body),
      by: actorOf(input),
      expect: (account) => ifMatch(input, etagOfAccount(account)),
      alongside: (tx, account) => input.idempotency.complete(tx, answer(account)),
    });
    return result.outcome === "not-found" ? refused(404, "not_found") : answer(result.account);
  }
}

interface AccountBody {
  readonly display_name?: string | undefined;
  readonly contact_address?: string | null | undefined;
  readonly locale?: string | undefined;
  readonly timezone?: string | undefined;
}

/** The wire names of the account's writable members, as the verb knows them. GraphQL sends the same. */
export function changesFrom(body: AccountBody): AccountChanges {
  return {
    displayName: body.display_name,
    contactAddress: body.contact_address,
    locale: body.locale,
    timezone: body.timezone,
  };
}
