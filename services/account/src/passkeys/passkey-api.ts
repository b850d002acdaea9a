import type { Caller } from "@signalbox/auth";
import { accountExample, exampleOf, examples, PasskeyResource } from "@signalbox/contracts";
import { type HttpResponse, listPage, ok, pageOf, pageParameters, refused, strongEtag } from "@signalbox/http";
import { conflict, type Edges, edgesOf, list, type OwnRow, operation } from "@signalbox/service";
import type { ListRange, Tx } from "@signalbox/storage";
import { z } from "zod";
import type { Account } from "../accounts/account.ts";
import { recordReadOfAccount } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { reason } from "../statuses/statuses.ts";
import { type Passkey, PasskeyPatch, viewPasskey } from "./passkey.ts";
import { findPasskey, listPasskeys } from "./passkey-store.ts";
import { removePasskey, removePasskeyByAdministrator, renamePasskey } from "./passkeys.ts";

interface HeldPasskey {
  readonly account: Account;
  readonly passkey: Passkey;
}

const base = "/api/account/passkeys/" as const;
const one = `${base}:passkey_id` as const;
const security = { scopes: ["account:security"], ownAccount: true } as const;
const ofAccount = "/api/accounts/:account_id/passkeys/" as const;
const administration = { scopes: ["account:admin"] } as const;
const lastWayIn = conflict(
  "passkeys",
  "last_way_in",
  "This is the last way to sign in to the account. Verify a contact address first.",
);
const missing = "There is no such passkey.";
const names = { keysInInput: true, names: { passkey_id: "id" } } as const;

/** A use changes no validator, or a passkey in use could not be renamed under `If-Match`. */
const etagOf = ({ id, name }: Passkey): string => strongEtag(name, id);
const show = (passkey: Passkey): HttpResponse => ok(viewPasskey(passkey), { etag: etagOf(passkey) });

/** The account is locked first, so that two removals at once cannot take the last way in. */
async function lockHeld({ accountStore }: AccountService, tx: Tx, accountId: string, id: string) {
  const account = await accountStore.lock(tx, accountId);
  const passkey = account && (await findPasskey(tx, accountId, id));
  return passkey && { account, passkey };
}

/** Reads a page; an administrator's read leaves an entry in the account's audit. */
async function readPage(service: AccountService, range: ListRange, caller: Caller, accountId: string) {
  await recordReadOfAccount(service, caller, accountId, "account.read_passkeys");
  return listPasskeys(service.pool, accountId, range);
}

/** The passkeys of an account at both edges; they are added and used on the pages of the issuer, by a browser. */
export function passkeyApi(service: AccountService): Edges {
  const { accountStore, pageLimits } = service;
  const edges = edgesOf(
    {
      passkeys: list({
        summary: "List the account's passkeys, newest first",
        description: "Passkeys are added at `/oauth/passkeys`, in the browser that will use them.",
        auth: { scopes: ["account:read"], access: "own-account:read", ownAccount: true },
        limits: pageLimits,
        read: (range, { caller, accountId }) => readPage(service, range, caller, accountId),
        rest: { get: base, item: PasskeyResource, view: viewPasskey },
        graph: { ofOthers: { ...administration, access: "read" }, audit: "account.read_passkeys" },
      }),
      ...ownOperations(service),
      removeAccountPasskey: removalByAdministrator(service),
    },
    { errors: "account", exampleIds: { account_id: accountExample.id, passkey_id: exampleOf(PasskeyResource).id } },
  );
  // The graph has it as a field of the account.
  edges.routes.get(ofAccount, {
    operationId: "accountPasskeys",
    summary: "List the passkeys of an account, newest first",
    description: "For administrators; reading them is recorded in the account's audit.",
    auth: administration,
    audit: "account.read_passkeys",
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(PasskeyResource), 404: "error" },
    async handle({ caller, params, query }) {
      const account = await accountStore.find(params.account_id);
      if (!account) return refused(404, "not_found");
      return listPage(query, (range) => readPage(service, range, caller, account.id), viewPasskey);
    },
  });
  return edges;
}

function ownOperations(service: AccountService) {
  const of: OwnRow<HeldPasskey, { readonly passkey_id: string }> = {
    find: (tx, { caller, params }) => lockHeld(service, tx, caller.accountId, params.passkey_id),
    etag: ({ passkey }) => etagOf(passkey),
    missing,
  };
  return {
    renamePasskey: operation({
      summary: "Rename a passkey",
      description: "A new name needs a recent sign-in; the same name changes nothing.",
      auth: { ...security, stepUpFor: "another name" },
      audit: "passkey.update",
      input: PasskeyPatch,
      of,
      change: (tx, { passkey }, { caller, input }) => renamePasskey(service, tx, caller, passkey, input.name),
      rest: { patch: one, mergePatch: true, responses: { 200: PasskeyResource }, idempotent: true, answer: show },
      graph: { payload: "passkey", ...names },
    }),
    removePasskey: operation({
      summary: "Remove a passkey",
      description: "It no longer works for signing in. The last way to sign in to the account cannot be removed.",
      auth: { ...security, stepUp: true },
      audit: "passkey.remove",
      of,
      change: (tx, { account, passkey }, { caller }) => removePasskey(service, tx, caller, account, passkey),
      refusals: { "last-way-in": lastWayIn },
      rest: { delete: one, responses: { 204: "empty", 409: "error" }, idempotent: true },
      graph: {
        payload: { removedPasskeyId: (_, { params }) => params.passkey_id },
        type: "RemovePasskeyPayload",
        ...names,
      },
    }),
  };
}

const removalByAdministrator = (service: AccountService) =>
  operation({
    summary: "Remove a passkey of an account",
    description: "For administrators. It no longer works for signing in, and the owner gets a notice.",
    auth: { ...administration, stepUp: true },
    audit: "passkey.remove",
    input: z
      .strictObject({ reason: reason.describe("The reason, which is kept in the audit log.") })
      .register(examples, { example: { reason: "The phone was stolen." } }),
    of: { find: (tx, { params }) => lockHeld(service, tx, params.account_id, params.passkey_id), missing },
    change: (tx, { account, passkey }, { caller, input }) =>
      removePasskeyByAdministrator(service, tx, caller, account, passkey, input.reason),
    refusals: { "last-way-in": lastWayIn },
    rest: { post: `${ofAccount}:passkey_id/remove`, responses: { 204: "empty", 409: "error" }, idempotent: true },
    graph: {
      payload: { removedPasskeyId: (_, { params }) => params.passkey_id },
      type: "RemovePasskeyPayload",
      keysInInput: true,
      names: { account_id: "accountId", passkey_id: "id" },
    },
  });
