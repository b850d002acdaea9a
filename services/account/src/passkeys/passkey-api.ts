import { PasskeyResource, passkeyExample } from "@signalbox/contracts";
import { type HttpResponse, ok, strongEtag } from "@signalbox/http";
import { conflict, type Edges, edgesOf, list, operation } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { AccountService } from "../context/account-service.ts";
import { type Passkey, PasskeyPatch, viewPasskey } from "./passkey.ts";
import { findPasskey, listPasskeys } from "./passkey-store.ts";
import { removePasskey, renamePasskey } from "./passkeys.ts";

interface HeldPasskey {
  readonly account: Account;
  readonly passkey: Passkey;
}

const base = "/api/account/passkeys/" as const;
const one = `${base}:passkey_id` as const;
const security = { scopes: ["account:security"] } as const;
const missing = "There is no such passkey.";
const names = { keysInInput: true, names: { passkey_id: "id" } } as const;

/** A use changes no validator, or a passkey in use could not be renamed under `If-Match`. */
const etagOf = ({ id, name }: Passkey): string => strongEtag(name, id);
const show = (passkey: Passkey): HttpResponse => ok(viewPasskey(passkey), { etag: etagOf(passkey) });

/** The passkeys of an account at both edges; they are added and used on the pages of the issuer, by a browser. */
export function passkeyApi(service: AccountService): Edges {
  /** The account is locked first, so that two removals at once cannot take the last way in. */
  const { accountStore, pageLimits, pool } = service;
  async function lockHeld(tx: Tx, accountId: string, id: string): Promise<HeldPasskey | null> {
    const account = await accountStore.lock(tx, accountId);
    const passkey = account && (await findPasskey(tx, accountId, id));
    return passkey && { account, passkey };
  }
  const of = {
    find: (tx: Tx, { caller, params }: { caller: { accountId: string }; params: { passkey_id: string } }) =>
      lockHeld(tx, caller.accountId, params.passkey_id),
    etag: ({ passkey }: HeldPasskey) => etagOf(passkey),
    missing,
  };

  return edgesOf(
    {
      passkeys: list({
        summary: "List the account's passkeys, newest first",
        description: "They are added at `/oauth/passkeys`, in the browser that shall use them.",
        auth: { scopes: ["account:read"], access: "own-account:read" },
        limits: pageLimits,
        read: (range, { accountId }) => listPasskeys(pool, accountId, range),
        rest: { get: base, item: PasskeyResource, view: viewPasskey },
      }),
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
        description: "It signs nobody in any more. The last way in to the account cannot be removed.",
        auth: { ...security, stepUp: true },
        audit: "passkey.remove",
        of,
        change: (tx, { account, passkey }, { caller }) => removePasskey(service, tx, caller, account, passkey),
        refusals: {
          "last-way-in": conflict(
            "passkeys",
            "last_way_in",
            "This is the last way in to the account. Verify a contact address first.",
          ),
        },
        rest: { delete: one, responses: { 204: "empty", 409: "error" }, idempotent: true },
        graph: {
          payload: { removedPasskeyId: (_, { params }) => params.passkey_id },
          type: "RemovePasskeyPayload",
          ...names,
        },
      }),
    },
    { errors: "account", exampleIds: { passkey_id: passkeyExample.id } },
  );
}
