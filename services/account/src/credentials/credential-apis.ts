import type { Caller } from "@signalbox/auth";
import { ApiKeyResource, type AuditAction, ServiceClientResource } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Refusal } from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import type { z } from "zod";
import type { Account } from "../accounts/account.ts";
import type { Actor } from "../audit/audit.ts";
import { type ApiKey, viewApiKey } from "./api-key.ts";
import type { ApiKeys } from "./api-keys.ts";
import type { Credential, CredentialView, NewCredential } from "./credential.ts";
import {
  ApiKeyRotation,
  ClientSecretRotation,
  IssuedApiKey,
  IssuedServiceClient,
  NewApiKey,
  NewServiceClient,
} from "./credential-bodies.ts";
import { type CredentialDescendants, createCredentialDescendants } from "./credential-descendants.ts";
import { refusedClient, refusedKey, refusedKeyRotation, refusedSecretRotation } from "./credential-refusals.ts";
import type { CredentialStore } from "./credential-store.ts";
import type { CreateOutcome, Issued } from "./credentials.ts";
import { type ServiceClient, viewServiceClient } from "./service-client.ts";
import type { ServiceClients } from "./service-clients.ts";

type Outcome<C extends Credential> = ({ outcome: "issued" } & Issued<C>) | { outcome: string };

/** One kind of credential in REST and GraphQL. */
export interface CredentialApi<C extends Credential> {
  /** "API key": the noun in texts. */
  readonly noun: string;
  /** The operation ids, the same in OpenAPI and GraphQL. */
  readonly operations: Readonly<Record<"list" | "read" | "create" | "rename" | "revoke" | "rotate", string>>;
  /** The operation ids of administrators, for any account. */
  readonly ofOthers: Readonly<Record<"list" | "revoke", string>>;
  /** Its type in the audit. */
  readonly audited: "api_key" | "client";
  readonly path: string;
  readonly idParameter: string;
  readonly store: CredentialStore<C>;
  readonly view: (credential: C) => CredentialView;
  /** The view of a new credential, with its secret. */
  readonly viewIssued: (issued: Issued<C>) => object;
  readonly resource: z.ZodType;
  readonly issuedResource: z.ZodType;
  readonly newBody: typeof NewApiKey;
  readonly rotationBody: typeof ApiKeyRotation;
  readonly create: (tx: Tx, caller: Caller, account: Account, wanted: NewCredential) => Promise<CreateOutcome<C>>;
  readonly rename: (tx: Tx, caller: Caller, credential: C, name?: string) => Promise<C>;
  /** Ends the credential and, on request, every credential that it created. */
  readonly revoke: (tx: Tx, by: Caller | Actor, credential: C, revokeCreated?: boolean) => Promise<Revoked<C>>;
  readonly rotate: (
    tx: Tx,
    caller: Caller,
    account: Account,
    credential: C,
    overlapSeconds: number,
  ) => Promise<Outcome<C>>;
  readonly refusedCreation: (result: Exclude<CreateOutcome<C>, { outcome: "issued" }>) => Refusal;
  readonly refusedRotation: (result: { outcome: string }) => Refusal;
  readonly rotation: {
    readonly path: string;
    readonly summary: string;
    readonly description: string;
    /** True when a rotation creates another credential (keys); false when it replaces the secret (clients). */
    readonly makesAnother: boolean;
    readonly audit: AuditAction;
  };
  readonly texts: { readonly issued: string; readonly secretless: string; readonly revoked: string };
}

/** A credential and its account, both locked. */
export interface HeldCredential<C extends Credential> {
  readonly account: Account;
  readonly credential: C;
}

/** A revoked credential, with the number of live credentials that it created. */
export interface Revoked<C extends Credential> {
  readonly credential: C;
  readonly createdLive: number;
}

export interface CredentialApiDependencies {
  readonly keys: CredentialStore<ApiKey>;
  readonly apiKeys: ApiKeys;
  readonly clients: CredentialStore<ServiceClient>;
  readonly serviceClients: ServiceClients;
  readonly clock: Clock;
}

/** The two kinds of credentials. */
export function createCredentialApis(dependencies: CredentialApiDependencies) {
  const descendants = createCredentialDescendants(dependencies);
  return { keyApi: apiKeyApi(dependencies, descendants), clientApi: serviceClientApi(dependencies, descendants) };
}

/** Ends a credential, even one that has ended before, and counts or ends those that it created. */
async function revokeWithDescendants<C extends Credential>(
  { revoke }: { revoke(tx: Tx, by: Caller | Actor, credential: C): Promise<C> },
  descendants: CredentialDescendants,
  ...[tx, by, credential, revokeCreated = false]: Parameters<CredentialApi<C>["revoke"]>
): Promise<Revoked<C>> {
  if (revokeCreated) await descendants.revokeAll(tx, by, credential);
  const revoked = await revoke(tx, by, credential);
  return { credential: revoked, createdLive: await descendants.countLive(tx, credential) };
}

function apiKeyApi(
  { keys: store, apiKeys, clock }: CredentialApiDependencies,
  descendants: CredentialDescendants,
): CredentialApi<ApiKey> {
  const view = (key: ApiKey) => viewApiKey(key, clock.now());
  return {
    noun: "API key",
    operations: {
      list: "apiKeys",
      read: "apiKey",
      create: "createApiKey",
      rename: "renameApiKey",
      revoke: "revokeApiKey",
      rotate: "rotateApiKey",
    },
    ofOthers: { list: "accountApiKeys", revoke: "revokeAccountApiKey" },
    audited: "api_key",
    path: "/api/account/api-keys/",
    idParameter: "key_id",
    store,
    view,
    viewIssued: ({ credential, secret }) => ({ ...view(credential), key: secret }),
    resource: ApiKeyResource,
    issuedResource: IssuedApiKey,
    newBody: NewApiKey,
    rotationBody: ApiKeyRotation,
    ...apiKeys,
    revoke: (...asked) => revokeWithDescendants(apiKeys, descendants, ...asked),
    refusedCreation: refusedKey,
    refusedRotation: refusedKeyRotation as CredentialApi<ApiKey>["refusedRotation"],
    rotation: {
      path: "rotate",
      summary: "Replace an API key",
      description:
        "Creates a key with the same name, scopes and lifetime, and shows it once. The old one works until the overlap ends. `If-Match` refers to the old one.",
      makesAnother: true,
      audit: "api_key.rotate",
    },
    texts: {
      issued: "The answer shows the key once. Repeat the request with its `Idempotency-Key` to read it again.",
      secretless: "without the key itself",
      revoked: "The key stops working everywhere within two seconds. Revoking it again changes nothing.",
    },
  };
}

function serviceClientApi(
  dependencies: CredentialApiDependencies,
  descendants: CredentialDescendants,
): CredentialApi<ServiceClient> {
  const { clients: store, serviceClients, clock } = dependencies;
  const view = (client: ServiceClient) => viewServiceClient(client, clock.now());
  return {
    noun: "service client",
    operations: {
      list: "serviceClients",
      read: "serviceClient",
      create: "createServiceClient",
      rename: "renameServiceClient",
      revoke: "revokeServiceClient",
      rotate: "rotateServiceClientSecret",
    },
    ofOthers: { list: "accountServiceClients", revoke: "revokeAccountServiceClient" },
    audited: "client",
    path: "/api/account/clients/",
    idParameter: "client_id",
    store,
    view,
    viewIssued: ({ credential, secret }) => ({
      ...view(credential),
      client_id: credential.id,
      client_secret: secret,
    }),
    resource: ServiceClientResource,
    issuedResource: IssuedServiceClient,
    newBody: NewServiceClient,
    rotationBody: ClientSecretRotation,
    ...serviceClients,
    revoke: (...asked) => revokeWithDescendants(serviceClients, descendants, ...asked),
    refusedCreation: refusedClient,
    refusedRotation: refusedSecretRotation as CredentialApi<ServiceClient>["refusedRotation"],
    rotation: {
      path: "secret/rotate",
      summary: "Give a service client another secret",
      description:
        "Requires every scope of the client, because the answer shows the secret, once. The old one keeps working for `overlap_seconds`; until then another rotation is 409, unless its `overlap_seconds` is 0, which ends every older secret at once.",
      makesAnother: false,
      audit: "client.rotate_secret",
    },
    texts: {
      issued:
        "The answer shows the secret once. With it the client gets access tokens at `/oauth/token` (`client_credentials`).",
      secretless: "without its secret",
      revoked: "Its tokens stop working everywhere within two seconds. Revoking it again changes nothing.",
    },
  };
}

/** Locks a credential with its account: a rotation must not give a suspended account new access. */
export async function lockWithAccount<C extends Credential>(
  tx: Tx,
  accounts: { lock(tx: Tx, accountId: string): Promise<Account | null> },
  { store }: CredentialApi<C>,
  accountId: string,
  id: string,
): Promise<HeldCredential<C> | null> {
  const account = await accounts.lock(tx, accountId);
  const credential = account && (await store.lock(tx, accountId, id));
  return account && credential && { account, credential };
}
