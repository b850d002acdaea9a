import { inTransaction } from "@signalbox/storage";
import Provider, { type Adapter, type AdapterFactory, type AdapterPayload } from "oidc-provider";
import { findIssuedToken, revokeGrant, revokeToken } from "../sign-ins/issued-tokens.ts";
import { actingAccountOf } from "./claims.ts";
import type { IdentityService } from "./identity-service.ts";
import { findClient } from "./provider-clients.ts";
import { consumeRefreshToken, endGrant, findRefreshToken } from "./refresh-tokens.ts";
import { deleteState, markStateUsed, readState, readStateByUid, writeState } from "./state/state-store.ts";

/** The storage of the provider: service clients, access tokens, and everything else as sealed stateStore. */
export function adapterFor(service: IdentityService): AdapterFactory {
  return (model) => {
    if (model === "Client") return { ...unsupported, find: (id) => findClient(service, id) };
    if (model === "AccessToken") return { ...unsupported, ...accessTokens(service, "token") };
    if (model === "ClientCredentials") return { ...unsupported, ...accessTokens(service, "client") };
    const state = { ...unsupported, ...stateOf(service, model) };
    if (model !== "RefreshToken") return state;
    return { ...state, find: (id) => findRefreshToken(service, id), consume: (id) => consumeRefreshToken(service, id) };
  };
}

/** Access tokens are JWTs and are not stored: a token is found only when this very request presents it. */
function accessTokens(service: IdentityService, kind: "token" | "client"): Partial<Adapter> {
  const { presentedToken, pool } = service;
  return {
    async find(jti) {
      const presented = presentedToken.of(kind, jti);
      const issued = presented && (await findIssuedToken(service, jti));
      if (!issued) return undefined;
      const { token, use } = presented;
      const { aud, exp, iat, scope, account_id } = token.claims;
      return {
        kind: kind === "token" ? "AccessToken" : "ClientCredentials",
        jti,
        clientId: issued.clientId,
        ...(kind === "token" && { accountId: token.subject }),
        ...(typeof scope === "string" && { scope }),
        exp,
        iat,
        // As a credential it has its grant, and no audience: the provider takes tokens for itself alone. As the subject
        // it has no grant, because revoking one access token does not revoke its grant.
        ...(use === "credential" ? { grantId: issued.grantId } : { aud }),
        extra: { account_id },
      } as AdapterPayload;
    },
    destroy: (jti) => inTransaction(pool, (tx) => revokeToken(service, tx, jti)),
    revokeByGrantId: (grantId) => inTransaction(pool, (tx) => revokeGrant(service, tx, grantId)),
  };
}

/** The models that remember the account that the person has chosen. */
export const choosingModels = ["AuthorizationCode", "DeviceCode", "RefreshToken"] as const;

function keptAccount(model: string, { account }: AdapterPayload): { readonly account?: string } {
  if (typeof account === "string" || !choosingModels.some((one) => one === model)) return {};
  const chosen = Provider.ctx?.oidc ? actingAccountOf(Provider.ctx) : null;
  return chosen === null ? {} : { account: chosen };
}

function stateOf(service: IdentityService, model: string): Partial<Adapter> {
  return {
    upsert: (id, payload, expiresIn = 0) =>
      writeState(
        service,
        model,
        id,
        { ...payload, ...keptAccount(model, payload) },
        new Date(service.clock.nowMs() + expiresIn * 1000),
      ),
    find: (id) => readState(service, model, id) as Promise<AdapterPayload | undefined>,
    findByUserCode: (code) => readStateByUid(service, model, code) as Promise<AdapterPayload | undefined>,
    findByUid: (uid) => readStateByUid(service, model, uid) as Promise<AdapterPayload | undefined>,
    destroy: (id) => deleteState(service, model, id),
    // The provider checks for an earlier use and then marks it, which two requests may do at once.
    async consume(id) {
      if (await markStateUsed(service, model, id, service.clock.now())) return;
      const { grantId } = (await readState(service, model, id)) ?? {};
      await endGrant(service, String(grantId));
    },
    // When the provider revokes one kind of a grant's tokens it revokes all kinds, access tokens included.
    revokeByGrantId: async () => {},
  };
}

const refuse = () => Promise.reject(new Error("the provider used a disabled feature"));

const unsupported: Adapter = {
  upsert: refuse,
  find: refuse,
  findByUid: refuse,
  findByUserCode: refuse,
  consume: refuse,
  destroy: refuse,
  revokeByGrantId: refuse,
};
