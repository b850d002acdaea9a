import { type Caller, recentUntil } from "@signalbox/auth";
import { CurrentCredentialResource } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import { field } from "@signalbox/graphql";
import { ok } from "@signalbox/http";
import { type Edges, edgesOf, record } from "@signalbox/service";
import { jtiOf } from "../sign-ins/issued-tokens.ts";
import type { SignInStore } from "../sign-ins/sign-in-store.ts";
import type { ApiKey } from "./api-key.ts";
import type { CredentialStore } from "./credential-store.ts";
import type { ServiceClient } from "./service-client.ts";

export interface CurrentCredentialApi {
  readonly apiKeyStore: Pick<CredentialStore<ApiKey>, "find">;
  readonly serviceClientStore: Pick<CredentialStore<ServiceClient>, "find">;
  readonly signInStore: Pick<SignInStore, "findByToken">;
  readonly clock: Clock;
}

/** Any credential may ask about itself. */
const anyCredential = { scopes: [], access: "own-account:read" } as const;

/** The credential of a request, at both edges: "who am I?". */
export function currentCredentialApi(parts: CurrentCredentialApi): Edges {
  const currentCredential = record({
    summary: "Read the credential that this request came with",
    description:
      "Account, kind, name, scopes and end of the presented key or token. Needs no scope. `recent_sign_in_until` tells until when sensitive changes need no other proof.",
    auth: { ...anyCredential, portal: true },
    find: ({ caller }) => describeCredential(caller, parts),
    missing: "The credential no longer exists.",
    rest: { get: "/api/account/credential/", resource: CurrentCredentialResource, answer: (shown) => ok(shown) },
  });
  const credential = field({ ...anyCredential, ownOnly: true }, async (_account, _args, { caller }) => {
    const shown = await describeCredential(caller, parts);
    const { sign_in_id: signInId, expires_at: expiresAt, recent_sign_in_until: recentSignInUntil, ...rest } = shown;
    return { ...rest, signInId, expiresAt, recentSignInUntil };
  });
  return edgesOf({ currentCredential }, { errors: "account", fields: { Account: { credential } } });
}

async function describeCredential(caller: Caller, parts: CurrentCredentialApi): Promise<CurrentCredentialResource> {
  const { accountId, credential, scopes, roles, expiresAt } = caller;
  const { name, signInId } = await nameOf(caller, parts);
  return {
    account_id: accountId,
    kind: credential.kind,
    id: credential.id,
    name,
    sign_in_id: signInId,
    issuer: credential.issuer ?? null,
    scopes: [...scopes],
    roles: [...roles],
    expires_at: expiresAt?.toISOString() ?? null,
    recent_sign_in_until: recentUntil(caller, parts.clock)?.toISOString() ?? null,
  };
}

async function nameOf(
  { accountId, credential: { kind, id } }: Caller,
  { apiKeyStore, serviceClientStore, signInStore }: CurrentCredentialApi,
): Promise<{ readonly name: string | null; readonly signInId: string | null }> {
  if (kind === "portal") return { name: null, signInId: null };
  if (kind !== "token") {
    const found = await (kind === "api-key" ? apiKeyStore : serviceClientStore).find(accountId, id);
    return { name: found?.name ?? null, signInId: null };
  }
  const jti = jtiOf(id);
  const signIn = jti === null ? null : await signInStore.findByToken(accountId, jti);
  return { name: signIn?.browser ?? null, signInId: signIn?.id ?? null };
}
