import { type Caller, personOf, requireOwnAccount, requireScopes, requireState, requireStepUp } from "@signalbox/auth";
import { AccountResource, AccountSettingsResource } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { field, type HttpResponse, ok, type SubgraphContext } from "@signalbox/http";
import { conflict, type Edges, edgesOf, type OwnRow, operation, record } from "@signalbox/service";
import { requireTransaction, type Tx } from "@signalbox/storage";
import {
  type Account,
  etagOfAccount,
  etagOfSettings,
  stateOf,
  viewAccount,
  viewSettings,
} from "../accounts/account.ts";
import { changeAccount, touchesContact } from "../accounts/change-account.ts";
import { recordAccountChange, recordReadOfAccount } from "../audit/audit-log.ts";
import { tooManyCodes } from "../codes/code-answers.ts";
import { requestContactChange } from "../contacts/contact-changes.ts";
import type { AccountService } from "../context/account-service.ts";
import {
  type AccountBody,
  accountPatch,
  accountReplacement,
  changesFrom,
  settingsPatch,
  settingsReplacement,
} from "./account-body.ts";

const read = { scopes: ["account:read"], access: "own-account:read" } as const;
/** Any credential may ask for its own account; the visible fields depend on its scopes. */
const anyCredential = { scopes: [], access: "own-account:read" } as const;
const write = { scopes: ["account:write"], access: "own-account:write" } as const;
const writeContact = { ...write, stepUpFor: "another contact address or none" } as const;
export const accountGone = "The account no longer exists.";

const showAccount = (account: Account): HttpResponse => ok(viewAccount(account), { etag: etagOfAccount(account) });
const showSettings = (account: Account): HttpResponse => ok(viewSettings(account), { etag: etagOfSettings(account) });
const accountAnswers = { 200: AccountResource, 204: "empty", 409: "error" } as const;
const settingsAnswers = { 200: AccountSettingsResource, 204: "empty", 409: "error" } as const;

const lastWayIn =
  "This address is the last login method of the account. Change it instead, or create an API key with account:security first.";
const refusals = {
  "too-many": { ...tooManyCodes, field: "contact_address" },
  "last-way-in": conflict("contact_address", "last_way_in", lastWayIn),
};

/** Changes the account or its settings. A change to the same values leaves no trace. */
async function updateAccount(service: AccountService, tx: Tx, caller: Caller, account: Account, body: AccountBody) {
  // The edge judged the state as of moments ago; the locked row has the present one.
  const { clock, accountStore } = service;
  requireState(stateOf(account), "own-account:write");
  const changed = changeAccount(account, changesFrom(body), clock.now());
  if (changed.accountFields.length + changed.settingsFields.length === 0) return account;
  if (touchesContact(changed)) {
    requireOwnAccount(caller);
    requireStepUp(caller, clock);
    // The limit of confirmation mails counts addresses, so it needs the transaction.
    requireTransaction(tx);
  }
  await accountStore.save(tx, changed.account);
  const refused = touchesContact(changed) ? await requestContactChange(service, tx, account, changed.account) : null;
  if (refused) return refused;
  await recordAccountChange(service, tx, caller, "account.update", changed);
  return changed.account;
}

/** The caller's own account with its settings, at both edges. */
export function accountApi(service: AccountService): Edges {
  const declarations = { ...accountOperations(service), ...settingsOperations(service) };
  return edgesOf(declarations, { errors: "account", fields: fieldsOf(service) });
}

export const ownAccount = ({ accountStore }: AccountService): OwnRow<Account, unknown> => ({
  find: (tx, { caller }) => accountStore.lock(tx, caller.accountId),
  missing: accountGone,
});

/** The own account of the person behind the credential, whichever account it acts for. */
export const accountOfPerson = ({ accountStore }: AccountService): OwnRow<Account, unknown> => ({
  find: (tx, { caller }) => accountStore.lock(tx, personOf(caller)),
  missing: accountGone,
});

/** The same, read without a lock at first, since two such writes of one account hardly ever meet. */
const ownAccountReadFirst = (service: AccountService, etag: (account: Account) => string) => ({
  ...ownAccount(service),
  read: ({ caller }: { readonly caller: Caller }) => service.accountStore.find(caller.accountId),
  etag,
});

function accountOperations(service: AccountService) {
  const of = ownAccountReadFirst(service, etagOfAccount);
  return {
    viewer: record({
      summary: "Read the account",
      description: "The account of the caller's credential. Its first use creates the account.",
      auth: read,
      find: ({ caller }) => service.accountStore.find(caller.accountId),
      missing: accountGone,
      rest: { get: "/api/account/", resource: AccountResource, answer: showAccount },
    }),
    updateAccount: operation({
      summary: "Change the account",
      description:
        "A merge patch: absent members are unchanged, null clears `contact_address`, unless it is the account's last login method (409).",
      auth: writeContact,
      audit: "account.update",
      input: accountPatch(service),
      of,
      change: (tx, account, { caller, input }) => updateAccount(service, tx, caller, account, input),
      refusals,
      rest: {
        patch: "/api/account/",
        mergePatch: true,
        responses: accountAnswers,
        idempotent: true,
        answer: showAccount,
      },
      graph: { payload: "account" },
    }),
    replaceAccount: operation({
      summary: "Replace the account's writable members",
      description: "If `contact_address` is absent it is cleared; all other members are required.",
      auth: writeContact,
      audit: "account.update",
      input: accountReplacement(service),
      of,
      change: (tx, account, { caller, input }) => updateAccount(service, tx, caller, account, input),
      refusals,
      rest: { put: "/api/account/", responses: accountAnswers, answer: showAccount },
    }),
  };
}

function settingsOperations(service: AccountService) {
  const patch = settingsPatch(service);
  const replacement = settingsReplacement(service);
  const of = ownAccountReadFirst(service, etagOfSettings);
  const reading = (path: string) =>
    record({
      summary: "Read the account's settings",
      description: "Locale, time zone and notifications of the caller's account.",
      auth: read,
      find: ({ caller }) => service.accountStore.find(caller.accountId),
      missing: accountGone,
      rest: { get: path, resource: AccountSettingsResource, answer: showSettings },
    });
  const updating = (path: string, isInGraph: boolean) =>
    operation({
      summary: "Change the account's settings",
      description: "A merge patch: absent members stay, inside `notifications` too.",
      auth: write,
      audit: "account.update",
      input: patch,
      of,
      change: (tx, account, { caller, input }) => updateAccount(service, tx, caller, account, input),
      refusals,
      rest: { patch: path, mergePatch: true, responses: settingsAnswers, idempotent: true, answer: showSettings },
      ...(isInGraph && { graph: { payload: "settings", type: "AccountSettingsPayload" } }),
    });
  const replacing = (path: string) =>
    operation({
      summary: "Replace the account's settings",
      description: "Every member is required; PATCH changes some of them.",
      auth: write,
      audit: "account.update",
      input: replacement,
      of,
      change: (tx, account, { caller, input }) => updateAccount(service, tx, caller, account, input),
      refusals,
      rest: { put: path, responses: settingsAnswers, answer: showSettings },
    });
  // The illustrative path of the specification serves the same resource.
  const [path, specified] = ["/api/account/settings/", "/api/settings/"];
  return {
    accountSettings: reading(path),
    updateAccountSettings: updating(path, true),
    replaceAccountSettings: replacing(path),
    settings: reading(specified),
    updateSettings: updating(specified, false),
    replaceSettings: replacing(specified),
  };
}

const scalars = [
  ...(["displayName", "externalId", "contactAddress", "contactAddressVerified", "pendingContactAddress"] as const),
  ...(["locale", "timezone", "status", "statusChangedAt", "statusReason"] as const),
  ...(["createdAt", "updatedAt"] as const),
];

/** The fields of an account in the graph. Fields of other services on it have their own scopes. */
function fieldsOf(service: AccountService) {
  return {
    Query: {
      viewer: field(anyCredential, async (_parent, _args, context) => {
        const account = await service.loadAccount(context, context.caller.accountId);
        if (account) return readableBy(context.caller, account);
        throw new AppError("not_found", accountGone);
      }),
    },
    Account: {
      /** Another account reads as missing, unless the caller is an administrator. */
      __resolveReference: field(
        { ...anyCredential, ofOthers: { scopes: ["account:admin"], access: "read" } },
        async ({ id }: { readonly id: string }, _args, context) => {
          const account = await service.loadAccount(context, id);
          if (account) await recordReadOfAccount(service, context.caller, account.id, "account.read");
          return account && readableBy(context.caller, account);
        },
      ),
      ...Object.fromEntries(scalars.map((name) => [name, readScalar(name)])),
      settings: field({ ...read, ownOnly: true }, (account: Account) => account),
    },
    /** The parent is the account. */
    AccountSettings: {
      notifications: ({ productUpdates }: Account) => ({ productUpdates }),
      updatedAt: ({ settingsUpdatedAt }: Account) => settingsUpdatedAt,
    },
  };
}

/** Returns the account, or only its id for a caller who may not read it. */
function readableBy({ accountId, scopes }: Caller, account: Account): Account | { readonly id: string } {
  return account.id !== accountId || scopes.has("account:read") ? account : { id: account.id };
}

/** A fully loaded account was found by a caller who may see it: its reader, or the administrator who changed it. */
function readScalar(name: (typeof scalars)[number]) {
  return (account: Partial<Account>, _args: unknown, { caller }: SubgraphContext) => {
    if (!(name in account)) requireScopes(caller, read.scopes);
    return account[name];
  };
}
