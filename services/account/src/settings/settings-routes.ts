import type { Principal } from "@signalbox/auth";
import { AccountSettingsResource } from "@signalbox/contracts";
import { createRoutes, type HttpResponse, ifMatch, ok, type RouteInput, refused, strongEtag } from "@signalbox/http";
import type { Account } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { callersBody } from "../accounts/callers-body.ts";
import type { AccountChanges } from "../accounts/change-account.ts";
import type { UpdateAccountVerb } from "../accounts/update-account.ts";
import { actorOf } from "../audit/actor.ts";
import { viewSettings } from "./settings.ts";
import { settingsPatch, settingsReplacement } from "./settings-body.ts";

interface Dependencies {
  readonly accounts: Pick<AccountStore, "find">;
  readonly updateAccount: UpdateAccountVerb;
  readonly supportedLocales: () => readonly string[];
}

const etagOfSettings = (account: Account): string =>
  strongEtag(account.settingsRevision, `account-settings ${account.id}`);

/** The spec's illustrative path answers as the same resource. */
const paths = ["/api/account/settings/", "/api/settings/"] as const;
const responses = { 200: AccountSettingsResource, 204: "empty", 404: "error", 409: "error" } as const;

/** The caller's own settings, at both of their paths. */
export function settingsRoutes({ accounts, updateAccount, supportedLocales }: Dependencies) {
  const routes = createRoutes({ errors: "account" });

  for (const path of paths) {
    routes.get(path, {
      summary: "Read the account's settings",
      auth: { scopes: ["account:read"], access: "own-account:read" },
      responses: { 200: AccountSettingsResource, 404: "error" },
      async handle({ principal }) {
        const account = await accounts.find(principal.accountId);
        if (!account) return refused(404, "not_found");
        return ok(viewSettings(account), { etag: etagOfSettings(account) });
      },
    });

    routes.patch(path, {
      summary: "Change the account's settings",
      description: "A merge patch: absent members stay, inside `notifications` too.",
      auth: { scopes: ["account:write"], access: "own-account:write" },
      body: { ...callersBody(accounts, (present) => settingsPatch(supportedLocales, present)), mergePatch: true },
      responses,
      idempotent: true,
      handle: write,
    });

    routes.put(path, {
      summary: "Replace the account's settings",
      auth: { scopes: ["account:write"], access: "own-account:write" },
      body: callersBody(accounts, (present) => settingsReplacement(supportedLocales, present)),
      responses,
      handle: write,
    });
  }

  return routes;

  async function write(input: RouteInput<Principal, unknown, unknown, SettingsBody>): Promise<HttpResponse> {
    const answer = (account: Account) => ok(viewSettings(account), { etag: etagOfSettings(account) });
    const result = await updateAccount({
      principal: input.principal,
      changes: changesFrom(input.body),
      by: actorOf(input),
      expect: (account) => ifMatch(input, etagOfSettings(account)),
      alongside: (tx, account) => input.idempotency.complete(tx, answer(account)),
    });
    return result.outcome === "not-found" ? refused(404, "not_found") : answer(result.account);
  }
}

interface SettingsBody {
  readonly locale?: string | undefined;
  readonly timezone?: string | undefined;
  readonly notifications?: { readonly product_updates?: boolean | undefined } | undefined;
}

/** The wire names of the settings, as the verb knows them. GraphQL sends the same. */
export function changesFrom({ locale, timezone, notifications }: SettingsBody): AccountChanges {
  return { locale, timezone, productUpdates: notifications?.product_updates };
}
