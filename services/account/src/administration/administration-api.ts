import { AdministeredAccountResource, accountExample, examples, viewOf } from "@signalbox/contracts";
import {
  connectionField,
  created,
  field,
  filterFrom,
  type HttpResponse,
  listPage,
  ok,
  pageOf,
  pageParameters,
  type Refusal,
  type Routes,
  refused,
  strongEtag,
} from "@signalbox/http";
import { conflict, type Edges, edgesOf, type OwnRow, operation } from "@signalbox/service";
import { z } from "zod";
import type { Account } from "../accounts/account.ts";
import { checkContactAddress } from "../accounts/account-fields.ts";
import { accountFilter } from "../accounts/account-search-store.ts";
import { recordReadOfAccount, recordReadOfAll } from "../audit/audit-log.ts";
import { setContactByAdministrator } from "../contacts/contact-changes.ts";
import type { AccountService } from "../context/account-service.ts";
import { apiKeyKind } from "../credentials/api-key.ts";
import { IssuedApiKey } from "../credentials/api-keys.ts";
import { requestPurge } from "../deletion/account-purge.ts";
import { ruledText } from "../profile/account-body.ts";
import { addressTaken } from "../profile/contact-api.ts";
import { nextStatuses, statusActions } from "../statuses/change-status.ts";
import { changeStatusByAdministrator, reason, refusedTransition, StatusByAdministrator } from "../statuses/statuses.ts";
import { accountWithKeyExample, createAccountWithKey, newAccountRules } from "./account-creation.ts";
import { ImportResource, importAccounts, importRules } from "./account-import.ts";
import { AccountByAdministrator, refusedExternalId, refusedTexts } from "./account-reference.ts";
import { changeByAdministrator, refusedRoles, roleActions } from "./account-roles.ts";

const base = "/api/accounts/";
const one = `${base}:account_id` as const;
const administration = { scopes: ["account:admin"] } as const;
const Filter = z.strictObject(accountFilter);

/** All accounts, for administrators, at both edges. Reads of other accounts leave an entry in the audit. */
export function administrationApi(service: AccountService): Edges {
  const fields = {
    Query: { account: accountById(service), accounts: allAccounts(service) },
    Account: { administration: administrationOf(service) },
  };
  const edges = edgesOf(
    { ...creation(service), ...importing(service), ...changesOfOne(service), ...helpsForOne(service) },
    { errors: "account", exampleIds: { account_id: accountExample.id }, fields },
  );
  addReads(service, edges.routes);
  return edges;
}

const show = ({ account }: { readonly account: Account }): HttpResponse => showAdministered(account);
const graph = {
  payload: { account: ({ account }: { readonly account: Account }) => account },
  keysInInput: true,
  names: { account_id: "accountId" },
} as const;

const oneAccount = ({ accountStore }: AccountService): OwnRow<Account, { readonly account_id: string }> => ({
  find: (tx, { params }) => accountStore.lock(tx, params.account_id),
  etag: etagOfAdministered,
  missing: "There is no such account.",
});

function changesOfOne(service: AccountService) {
  const of = oneAccount(service);
  return {
    setAccountRoles: operation({
      summary: "Change the roles, the external id or the metadata of an account",
      description:
        "Changing roles needs a recent sign-in and every scope of the granted roles; the only administrator cannot lose the role (409). Absent members are unchanged, inside `metadata` too, where null removes a string.",
      auth: { ...administration, stepUpFor: "other roles" },
      audit: [...roleActions, "account.update"],
      input: AccountByAdministrator,
      of,
      change: (tx, account, { caller, input }) => changeByAdministrator(service, tx, caller, account, input),
      refusals: {
        "last-administrator": refusedRoles,
        "roles-by-issuer": refusedRoles,
        erased: refusedRoles,
        "external-id-taken": refusedExternalId,
        "too-many-texts": refusedTexts,
      },
      rest: {
        patch: one,
        mergePatch: true,
        responses: { 200: AdministeredAccountResource, 204: "empty" },
        idempotent: true,
        answer: show,
      },
      graph: { ...graph, raw: ["metadata"] },
    }),
    setAccountStatus: operation({
      summary: "Change the status of an account",
      description: "A deletion needs a recent sign-in. It can be undone until the personal data is erased.",
      auth: { ...administration, stepUpFor: "a deletion" },
      audit: statusActions,
      input: StatusByAdministrator,
      of,
      change: (tx, account, { caller, input: { status: to, reason } }) =>
        changeStatusByAdministrator(service, tx, caller, account, { to, reason }),
      refusals: { "no-transition": refusedTransition, "last-administrator": refusedTransition },
      rest: {
        post: `${one}/status`,
        responses: { 200: AdministeredAccountResource },
        idempotent: true,
        answer: show,
      },
      graph,
    }),
  };
}

/** The helps for a person who has lost their address, or wants to be forgotten at once. */
function helpsForOne(service: AccountService) {
  const of = oneAccount(service);
  return {
    setAccountContactAddress: operation({
      summary: "Set the contact address of an account, verified",
      description:
        "For a person who has lost access to theirs. Both addresses get a notice, and the holder of the former one can object. An address that another account has verified is 409, `address_taken`.",
      auth: { ...administration, stepUp: true },
      audit: "account.contact_set",
      input: ContactByAdministrator,
      of,
      change: (tx, account, { caller, input: { contact_address: address, reason } }) =>
        setContactByAdministrator(service, tx, caller, account, { address, reason }),
      refusals: { taken: addressTaken, deleted: conflict("contact_address", "account_deleted", deletedMessage) },
      rest: {
        post: `${one}/contact-address`,
        responses: { 200: AdministeredAccountResource },
        idempotent: true,
        answer: show,
      },
      graph,
    }),
    purgeAccount: operation({
      summary: "Purge a deleted account early",
      description: "Its personal data is erased within a minute, which cannot be undone.",
      auth: { ...administration, stepUp: true },
      audit: "account.begin_purge",
      input: PurgeByAdministrator,
      of,
      change: (tx, account, { caller, input }) => requestPurge(service, tx, caller, account, input.reason),
      refusals: {
        "not-deleted": conflict(
          "status",
          "transition_not_allowed",
          "Only a deleted account can be purged. Delete it first.",
        ),
      },
      rest: { post: `${one}/purge`, responses: { 200: AdministeredAccountResource }, idempotent: true, answer: show },
      graph,
    }),
  };
}

const deletedMessage = "The account is deleted. Restore it first.";

/** The body of an administrator's change of the address. */
const ContactByAdministrator = z
  .strictObject({
    contact_address: ruledText(checkContactAddress).describe("The address for which the administrator vouches."),
    reason: reason.describe("The reason, which the owner reads in the audit."),
  })
  .register(examples, { example: { contact_address: "ada@example.org", reason: "Identified by passport." } });

const PurgeByAdministrator = z
  .strictObject({ reason: reason.describe("The reason, which is kept in the audit log.") })
  .register(examples, { example: { reason: "Asked for by the person." } });

const createRefusals = {
  "external-id-taken": refusedExternalId,
  "roles-by-issuer": ({ outcome }: { readonly outcome: "roles-by-issuer" }) => refusedRoles({ outcome }),
  "beyond-roles": ({ scopes }: { readonly scopes: readonly string[] }): Refusal => {
    const message = `The account would not have ${scopes.join(" and ")}.`;
    return { code: "validation_error", message, details: [{ field: "key.scopes", code: "not_allowed", message }] };
  },
  "key-refused": ({ refusal }: { readonly refusal: Refusal }) => refusal,
};

function creation(service: AccountService) {
  return {
    createAccount: operation({
      summary: "Create an account for a customer or a service",
      description:
        "The account has no person: its first key, shown once, acts for it. Needs every scope of the role and of the key.",
      auth: { ...administration, stepUp: true },
      audit: ["account.create", "api_key.create"],
      input: newAccountRules(service),
      create: (tx, { caller, input }) => createAccountWithKey(service, tx, caller, input),
      refusals: createRefusals,
      rest: {
        post: base,
        responses: { 201: AccountWithKey, 409: "error" },
        idempotent: "sealed",
        answer: ({ account, credential, secret }) =>
          created(
            `${base}${account.id}`,
            {
              ...viewAdministered(account),
              api_key: { ...apiKeyKind.view(credential, service.clock.now()), key: secret },
            },
            { etag: etagOfAdministered(account) },
          ),
      },
      graph: {
        payload: {
          account: ({ account }) => account,
          apiKey: ({ credential }) => credential,
          key: ({ secret }) => secret,
        },
        type: "AccountWithKeyPayload",
        raw: ["metadata"],
      },
    }),
  };
}

/** Over REST alone: an import is a list of anybody's making, and the graph's typed input would refuse it as a whole. */
const importing = (service: AccountService) => ({
  importAccounts: operation({
    summary: "Import accounts with verified addresses",
    description:
      "Up to 1,000, each with its own outcome: created, exists or refused. A repeated import finds the accounts of the first. Needs every scope of an owner.",
    auth: { ...administration, stepUp: true },
    audit: "account.create",
    input: importRules(service),
    create: (tx, { caller, input }) => importAccounts(service, tx, caller, input),
    rest: {
      post: `${base}import`,
      responses: { 200: ImportResource },
      idempotent: true,
      answer: (result) => ok(result),
    },
  }),
});

const AccountWithKey = AdministeredAccountResource.extend({ api_key: IssuedApiKey })
  .meta({ id: "AccountWithKey", description: "A new account with its first key, shown only once." })
  .register(examples, { example: accountWithKeyExample });

function addReads(service: AccountService, routes: Routes): void {
  routes.get(base, {
    operationId: "accounts",
    summary: "List accounts, newest first",
    description: "For administrators. Filters narrow the list by state, text and time of creation.",
    auth: administration,
    audit: "account.list",
    query: z.object({ ...accountFilter, ...pageParameters(service.pageLimits) }),
    responses: { 200: pageOf(AdministeredAccountResource) },
    async handle({ caller, query }) {
      await recordReadOfAll(service, caller, "account.list");
      return listPage(query, (range) => service.accountSearch.list(query, range), viewAdministered);
    },
  });

  routes.get(one, {
    operationId: "account",
    summary: "Read an account",
    description: "For administrators; reading it is recorded in the account's audit.",
    auth: administration,
    audit: "account.read",
    responses: { 200: AdministeredAccountResource, 404: "error" },
    async handle({ caller, params }) {
      const account = await service.accountStore.find(params.account_id);
      if (!account) return refused(404, "not_found");
      await recordReadOfAccount(service, caller, account.id, "account.read");
      return showAdministered(account);
    },
  });
}

const accountById = (service: AccountService) =>
  field<unknown, { readonly id: string }>(
    { ...administration, audit: "account.read" },
    async (_parent, { id }, context) => {
      const account = await service.loadAccount(context, id);
      if (account) await recordReadOfAccount(service, context.caller, account.id, "account.read");
      return account;
    },
  );

const allAccounts = (service: AccountService) =>
  connectionField<unknown, Readonly<Record<string, unknown>>, Account>(
    { ...administration, audit: "account.list" },
    {
      limits: service.pageLimits,
      async read(range, _parent, { caller }, args) {
        const filter = filterFrom(Filter, args);
        await recordReadOfAll(service, caller, "account.list");
        return service.accountSearch.list(filter, range);
      },
    },
  );

const administrationOf = ({ loadAccount }: AccountService) =>
  field<{ readonly id: string }, unknown>(administration, async ({ id }, _args, context) => {
    const account = await loadAccount(context, id);
    if (!account) return null;
    const { roles, metadata, statusChangedAt, statusActor, statusReason, recoveryRequestedAt, purgedAt } = account;
    const scopesMax = account.scopesMax.length === 0 ? null : account.scopesMax;
    const change = { statusChangedAt, statusChangedBy: statusActor, statusReason };
    return {
      roles,
      scopesMax,
      metadata,
      ...change,
      nextStatuses: nextStatuses(account),
      recoveryRequestedAt,
      purgedAt,
    };
  });

const showAdministered = (account: Account): HttpResponse =>
  ok(viewAdministered(account), { etag: etagOfAdministered(account) });

const viewAdministered = viewOf(AdministeredAccountResource, (account: Account) => ({
  scopes_max: account.scopesMax.length === 0 ? null : [...account.scopesMax],
  status_changed_by: account.statusActor,
  next_statuses: nextStatuses(account),
  links: linksOf(`${base}${account.id}`),
}));

const linksOf = (self: string) => ({ self, status: `${self}/status`, audit: `${self}/audit/` });

/**
 * Changes with the recovery request, the roles with their bound and the metadata, which the owner's validator ignores
 * because the owner does not see them.
 */
function etagOfAdministered({ id, revision, roles, scopesMax, metadata, recoveryRequestedAt }: Account): string {
  // The database keeps the texts in an order of its own.
  const texts = Object.entries(metadata).sort(([one], [other]) => (one < other ? -1 : 1));
  const parts = [id, roles, scopesMax, texts, recoveryRequestedAt?.getTime() ?? null];
  return strongEtag(revision, `administered-account ${JSON.stringify(parts)}`);
}
