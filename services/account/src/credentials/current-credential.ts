import { type Caller, personOf, recentUntil } from "@signalbox/auth";
import { CurrentCredentialResource } from "@signalbox/contracts";
import { field, ok } from "@signalbox/http";
import { type Edges, edgesOf, record } from "@signalbox/service";
import { jtiOf } from "../access/issued-token-id.ts";
import type { AccountService } from "../context/account-service.ts";
import { findSignInByToken } from "../sign-ins/sign-in-store.ts";
import { apiKeyStore } from "./api-key.ts";
import { serviceClientStore } from "./service-client.ts";

/** Any credential may ask about itself. */
const anyCredential = { scopes: [], access: "own-account:read" } as const;

/** The credential of a request, at both edges: "who am I?". */
export function currentCredentialApi(service: AccountService): Edges {
  const currentCredential = record({
    summary: "Read the credential that this request came with",
    description:
      "Account, kind, name, scopes and expiry of the presented key or token. Needs no scope. Until `recent_sign_in_until` sensitive changes need no further sign-in.",
    auth: { ...anyCredential, portal: true },
    find: ({ caller }) => describeCredential(service, caller),
    missing: "The credential no longer exists.",
    rest: { get: "/api/account/credential/", resource: CurrentCredentialResource, answer: (shown) => ok(shown) },
  });
  const credential = field({ ...anyCredential, ownOnly: true }, async (_account, _args, { caller }) => {
    const shown = await describeCredential(service, caller);
    const {
      person_id: personId,
      member_role: memberRole,
      sign_in_id: signInId,
      expires_at: expiresAt,
      recent_sign_in_until: recentSignInUntil,
      ...rest
    } = shown;
    return { ...rest, personId, memberRole, signInId, expiresAt, recentSignInUntil };
  });
  return edgesOf({ currentCredential }, { errors: "account", fields: { Account: { credential } } });
}

async function describeCredential(service: AccountService, caller: Caller): Promise<CurrentCredentialResource> {
  const { accountId, credential, scopes, roles, expiresAt } = caller;
  const { name, signInId } = await nameOf(service, caller);
  return {
    account_id: accountId,
    person_id: credential.kind === "token" ? personOf(caller) : null,
    member_role: caller.member?.role ?? null,
    kind: credential.kind,
    id: credential.id,
    name,
    sign_in_id: signInId,
    issuer: credential.issuer ?? null,
    scopes: [...scopes],
    roles: [...roles],
    expires_at: expiresAt?.toISOString() ?? null,
    recent_sign_in_until: recentUntil(caller, service.clock)?.toISOString() ?? null,
  };
}

async function nameOf(
  { pool }: AccountService,
  caller: Caller,
): Promise<{ readonly name: string | null; readonly signInId: string | null }> {
  const { kind, id } = caller.credential;
  if (kind === "portal") return { name: null, signInId: null };
  if (kind !== "token") {
    const found = await (kind === "api-key" ? apiKeyStore : serviceClientStore).find(pool, caller.accountId, id);
    return { name: found?.name ?? null, signInId: null };
  }
  const jti = jtiOf(id);
  const signIn = jti === null ? null : await findSignInByToken(pool, personOf(caller), jti);
  return { name: signIn?.browser ?? null, signInId: signIn?.id ?? null };
}
