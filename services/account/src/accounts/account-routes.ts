import type { Principal } from "@signalbox/auth";
import { AccountResource, AccountSettingsResource } from "@signalbox/contracts";
import { createRoutes, type HttpResponse, ok, type RouteInput, type RouteWrite, refused } from "@signalbox/http";
import { type Account, etagOfAccount, etagOfSettings, viewAccount, viewSettings } from "./account.ts";
import { type AccountBody, changesFrom, createAccountBodies } from "./account-body.ts";
import type { Accounts } from "./accounts.ts";

interface AccountRouteDependencies {
  readonly accounts: Pick<Accounts, "find" | "lock" | "update">;
  readonly supportedLocales: () => readonly string[];
}

type Input = RouteInput<Principal, unknown, unknown, AccountBody>;

const read = { scopes: ["account:read"], access: "own-account:read" } as const;
const write = { scopes: ["account:write"], access: "own-account:write" } as const;

/** `/api/account/`: the caller's own account. */
export function accountRoutes({ accounts, supportedLocales }: AccountRouteDependencies) {
  const routes = createRoutes({ errors: "account" });
  const show = (account: Account) => ok(viewAccount(account), { etag: etagOfAccount(account) });
  const responses = { 200: AccountResource, 204: "empty", 404: "error", 409: "error" } as const;
  const bodies = createAccountBodies({ accounts, supportedLocales });
  const auth = { ...write, stepUpFor: "another contact address or none" } as const;

  routes.get("/api/account/", {
    operationId: "viewer",
    summary: "Read the account",
    auth: read,
    responses: { 200: AccountResource, 404: "error" },
    handle: ({ principal }) => showFound(accounts, principal, show),
  });

  routes.patch("/api/account/", {
    operationId: "updateAccount",
    summary: "Change the account",
    description:
      "A merge patch: absent members stay, null clears `contact_address`, unless it is the last login method of the account (409).",
    auth,
    audit: "account.update",
    body: { ...bodies.patch, mergePatch: true },
    responses,
    idempotent: true,
    write: updateOf(accounts, etagOfAccount, show),
  });

  routes.put("/api/account/", {
    operationId: "replaceAccount",
    summary: "Replace the account's writable members",
    description: "An absent `contact_address` is cleared; any other absent member is refused.",
    auth,
    audit: "account.update",
    body: bodies.replacement,
    responses,
    write: updateOf(accounts, etagOfAccount, show),
  });

  return routes;
}

/** The illustrative path of the specification serves the same resource. */
const settingsPaths = [
  {
    path: "/api/account/settings/",
    operations: { read: "accountSettings", update: "updateAccountSettings", replace: "replaceAccountSettings" },
  },
  {
    path: "/api/settings/",
    operations: { read: "settings", update: "updateSettings", replace: "replaceSettings" },
  },
] as const;

/** The caller's own settings. */
export function settingsRoutes({ accounts, supportedLocales }: AccountRouteDependencies) {
  const routes = createRoutes({ errors: "account" });
  const show = (account: Account) => ok(viewSettings(account), { etag: etagOfSettings(account) });
  const bodies = createAccountBodies({ accounts, supportedLocales });
  const responses = { 200: AccountSettingsResource, 204: "empty", 404: "error", 409: "error" } as const;

  for (const { path, operations } of settingsPaths) {
    routes.get(path, {
      operationId: operations.read,
      summary: "Read the account's settings",
      auth: read,
      responses: { 200: AccountSettingsResource, 404: "error" },
      handle: ({ principal }) => showFound(accounts, principal, show),
    });

    routes.patch(path, {
      operationId: operations.update,
      summary: "Change the account's settings",
      description: "A merge patch: absent members stay, inside `notifications` too.",
      auth: write,
      audit: "account.update",
      body: { ...bodies.settingsPatch, mergePatch: true },
      responses,
      idempotent: true,
      write: updateOf(accounts, etagOfSettings, show),
    });

    routes.put(path, {
      operationId: operations.replace,
      summary: "Replace the account's settings",
      auth: write,
      audit: "account.update",
      body: bodies.settingsReplacement,
      responses,
      write: updateOf(accounts, etagOfSettings, show),
    });
  }

  return routes;
}

async function showFound(
  accounts: Pick<Accounts, "find">,
  { accountId }: Principal,
  show: (account: Account) => HttpResponse,
): Promise<HttpResponse> {
  const account = await accounts.find(accountId);
  return account ? show(account) : refused(404, "not_found");
}

/** Two writes of one account hardly ever meet, so the row is read without a lock at first. */
function updateOf(
  accounts: AccountRouteDependencies["accounts"],
  etag: (account: Account) => string,
  show: (account: Account) => HttpResponse,
): RouteWrite<Input, Account, Account> {
  return {
    read: ({ caller }) => accounts.find(caller.accountId),
    find: (tx, { caller }) => accounts.lock(tx, caller.accountId),
    etag,
    change: (tx, account, { caller, body }) => accounts.update(tx, caller, account, changesFrom(body)),
    answer: show,
  };
}
