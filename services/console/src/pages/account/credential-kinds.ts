import type { ApiKey, ServiceClient } from "@signalbox/client";
import type { Paged } from "../../parts/resource-list.tsx";
import { api, type Scope } from "../../session/api.ts";

/** A credential of either kind in a list. */
export type Credential = ApiKey | ServiceClient;

/** A credential that was made or rotated, with its secret, which is shown once. */
export interface Issued {
  readonly name: string;
  readonly secret: string;
}

interface NewCredential {
  readonly name: string;
  readonly scopes: Scope[];
  readonly expires_at: string | null;
}

/** The differences between API keys and service clients. */
export interface CredentialKind {
  readonly title: string;
  readonly noun: string;
  readonly path: string;
  readonly text: string;
  /** Says what the secret is for, where it is shown. */
  readonly secretText: string;
  readonly rotateText: string;
  readonly list: (query: { readonly limit: number; readonly cursor?: string }) => PromiseLike<Paged<Credential>>;
  readonly create: (wanted: NewCredential) => Promise<Issued>;
  readonly rename: (id: string, name: string) => Promise<unknown>;
  readonly rotate: (id: string, overlapSeconds: number) => Promise<Issued>;
  /** Returns the number of live credentials that it had made. */
  readonly revoke: (id: string, isWithCreated: boolean) => Promise<number>;
  /** Ends the secrets before the newest one, where a kind has several. */
  readonly endPrevious: ((id: string) => Promise<unknown>) | null;
}

const { apiKeys, serviceClients } = api;

// Without such credentials the answer is 204, which has no body.
const created = (answer: { readonly created_live: number } | undefined): number => answer?.created_live ?? 0;

const ofCreated = (isWithCreated: boolean) => (isWithCreated ? ({ revoke_created: "true" } as const) : {});

export const keyKind: CredentialKind = {
  title: "API keys",
  noun: "API key",
  path: "api/account/api-keys",
  text: "Programs send a key with each request. It acts for your account, within its scopes.",
  secretText: "Programs send it as X-API-Key. Keep it where they keep their secrets.",
  rotateText:
    "A key with the same name, scopes and lifetime takes its place. The old one works too until the overlap ends.",
  list: (query) => apiKeys.list(query),
  create: async (wanted) => issuedKey(await apiKeys.create(wanted)),
  rename: (id, name) => apiKeys.rename(id, { name }),
  rotate: async (id, seconds) => issuedKey(await apiKeys.rotate(id, { overlap_seconds: seconds })),
  revoke: async (id, isWithCreated) => created(await apiKeys.revoke(id, ofCreated(isWithCreated))),
  endPrevious: null,
};

const issuedKey = ({ name, key }: { readonly name: string; readonly key: string }): Issued => ({ name, secret: key });

export const clientKind: CredentialKind = {
  title: "Service clients",
  noun: "service client",
  path: "api/account/clients",
  text: "A program exchanges the client's id and secret for tokens that last an hour (OAuth client credentials).",
  secretText: "The program sends it to the token endpoint with the id of the client. Keep it where the program does.",
  rotateText: "The client gets a new secret. The old one works too until the overlap ends.",
  list: (query) => serviceClients.list(query),
  create: async (wanted) => issuedClient(await serviceClients.create(wanted)),
  rename: (id, name) => serviceClients.rename(id, { name }),
  rotate: async (id, seconds) => issuedClient(await serviceClients.rotateSecret(id, { overlap_seconds: seconds })),
  revoke: async (id, isWithCreated) => created(await serviceClients.revoke(id, ofCreated(isWithCreated))),
  endPrevious: (id) => serviceClients.deletePreviousSecrets(id),
};

const issuedClient = ({ name, client_secret }: { readonly name: string; readonly client_secret: string }): Issued => ({
  name,
  secret: client_secret,
});
