import {
  type ConnectionSpec,
  connectionField,
  field,
  mutation,
  type PageLimits,
  refusalError,
  type SubgraphContext,
} from "@signalbox/graphql";
import { z } from "zod";
import type { Account } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { ApiKey } from "../credentials/api-key.ts";
import { type Credential, statusOf } from "../credentials/credential.ts";
import {
  type CredentialApi,
  type CredentialApiDependencies,
  createCredentialApis,
  lockWithAccount,
  type Revoked,
} from "../credentials/credential-apis.ts";
import { CredentialPatch } from "../credentials/credential-bodies.ts";
import type { CredentialStore } from "../credentials/credential-store.ts";
import type { Issued } from "../credentials/credentials.ts";
import { previousSecretUntil, type ServiceClient } from "../credentials/service-client.ts";
import { writeOwnAccount } from "./account-resolvers.ts";
import type { AccountLoaders } from "./loaders.ts";

interface Dependencies extends CredentialApiDependencies {
  readonly accounts: Pick<AccountStore, "lock">;
  readonly pageLimits: PageLimits;
}

type Context = SubgraphContext<AccountLoaders>;

const read = { scopes: ["account:read"], access: "own-account:read" } as const;
const listed = { ...read, ofOthers: { scopes: ["account:admin"], access: "read" } } as const;
const security = { scopes: ["account:security"], stepUp: true } as const;
const renaming = { scopes: ["account:security"], stepUpFor: "another name" } as const;
const id = z.string();

/** API keys and service clients in GraphQL: the operations and rules of REST. */
export function credentialResolvers({ accounts, pageLimits, ...parts }: Dependencies) {
  const { clock } = parts;
  const { keyApi, clientApi } = createCredentialApis(parts);
  const keys = mutationsOf(keyApi, accounts, {
    one: "apiKey",
    issued: (result) => ({ apiKey: result?.credential ?? null, key: result?.secret ?? null }),
  });
  const clients = mutationsOf(clientApi, accounts, {
    one: "serviceClient",
    issued: (result) => ({ serviceClient: result?.credential ?? null, clientSecret: result?.secret ?? null }),
  });
  return {
    Account: {
      apiKeys: connectionField(listed, listOf(keyApi.store, pageLimits)),
      serviceClients: connectionField(listed, listOf(clientApi.store, pageLimits)),
    },
    ApiKey: {
      __resolveReference: field(read, (key: { id: string }, _args, { loaders }: Context) => loaders.ownApiKey(key.id)),
      status: (key: ApiKey) => statusOf(key, clock.now()),
    },
    ServiceClient: {
      status: (client: ServiceClient) => statusOf(client, clock.now()),
      previousSecretExpiresAt: (client: ServiceClient) => previousSecretUntil(client, clock.now()),
    },
    Mutation: {
      createApiKey: keys.create,
      renameApiKey: keys.rename,
      rotateApiKey: keys.rotate,
      revokeApiKey: keys.revoke,
      createServiceClient: clients.create,
      renameServiceClient: clients.rename,
      rotateServiceClientSecret: clients.rotate,
      revokeServiceClient: clients.revoke,
    },
  };
}

function listOf<C extends Credential>(
  store: CredentialStore<C>,
  limits: PageLimits,
): ConnectionSpec<AccountLoaders, Pick<Account, "id">, object, C> {
  return { limits, read: (range, account) => store.list(account.id, range) };
}

/** The four mutations of one kind. */
function mutationsOf<C extends Credential>(
  api: CredentialApi<C>,
  accounts: Pick<AccountStore, "lock">,
  { one, issued }: { readonly one: string; readonly issued: (result: Issued<C> | null) => object },
) {
  const { audited, store } = api;
  const missing = `There is no such ${api.noun}.`;
  return {
    create: mutation(
      { ...security, audit: `${audited}.create`, input: api.newBody, payload: issued },
      async ({ expires_at: expiresAt, ...wanted }, context: Context) => {
        const result = await writeOwnAccount(context, accounts, (tx, account) =>
          api.create(tx, context.caller, account, { ...wanted, expiresAt }),
        );
        if (result.outcome !== "issued") throw refusalError(api.refusedCreation(result));
        return result;
      },
    ),
    rename: mutation(
      { ...renaming, audit: `${audited}.update`, input: CredentialPatch.extend({ id }), payload: one },
      (input, { caller, write }: Context) =>
        write({
          find: (tx) => store.lock(tx, caller.accountId, input.id),
          change: (tx, credential) => api.rename(tx, caller, credential, input.name),
          missing,
        }),
    ),
    rotate: mutation(
      { ...security, audit: api.rotation.audit, input: api.rotationBody.extend({ id }), payload: issued },
      async (input, { caller, write }: Context) => {
        const result = await write({
          find: (tx) => lockWithAccount(tx, accounts, api, caller.accountId, input.id),
          change: (tx, { account, credential }) => api.rotate(tx, caller, account, credential, input.overlap_seconds),
          missing,
        });
        if (!("credential" in result)) throw refusalError(api.refusedRotation(result));
        return result;
      },
    ),
    revoke: mutation(
      {
        ...security,
        audit: `${audited}.revoke`,
        input: z.strictObject({ id, revoke_created: z.boolean().default(false) }),
        payload: (result: Revoked<C> | null) => ({
          [one]: result?.credential ?? null,
          createdLive: result?.createdLive ?? null,
        }),
      },
      (input, { caller, write }: Context) =>
        write({
          find: (tx) => store.lock(tx, caller.accountId, input.id),
          change: (tx, credential) => api.revoke(tx, caller, credential, input.revoke_created),
          missing,
        }),
    ),
  };
}
