import type { Clock } from "@signalbox/core";
import { inTransaction, type Pool } from "@signalbox/storage";
import type { Adapter, AdapterFactory, AdapterPayload } from "oidc-provider";
import type { IssuedTokens } from "../sign-ins/issued-tokens.ts";
import type { PresentedToken } from "./callers/presented-token.ts";
import type { ProviderClients } from "./provider-clients.ts";
import { endGrant, type RefreshTokens } from "./refresh-tokens.ts";
import type { StateStore } from "./state/state-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly stateStore: StateStore;
  readonly issuedTokens: Pick<IssuedTokens, "find" | "revoke" | "revokeGrant">;
  readonly providerClients: Pick<ProviderClients, "find">;
  readonly presentedToken: Pick<PresentedToken, "of">;
  readonly refreshTokens: Pick<RefreshTokens, "find" | "consume">;
  readonly clock: Clock;
}

/** The storage of the provider: service clients, access tokens, and everything else as sealed stateStore. */
export function createAdapter(dependencies: Dependencies): AdapterFactory {
  return (model) => {
    if (model === "Client") return { ...unsupported, find: dependencies.providerClients.find };
    if (model === "AccessToken") return { ...unsupported, ...accessTokens("token", dependencies) };
    if (model === "ClientCredentials") return { ...unsupported, ...accessTokens("client", dependencies) };
    const { find, consume } = dependencies.refreshTokens;
    return { ...unsupported, ...stateOf(model, dependencies), ...(model === "RefreshToken" && { find, consume }) };
  };
}

/** Access tokens are JWTs and are not stored: a token is found only when this very request presents it. */
function accessTokens(
  kind: "token" | "client",
  { pool, issuedTokens, presentedToken }: Dependencies,
): Pick<Adapter, "find" | "destroy" | "revokeByGrantId"> {
  return {
    async find(jti) {
      const presented = presentedToken.of(kind, jti);
      const issued = presented && (await issuedTokens.find(jti));
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
    destroy: (jti) => inTransaction(pool, (tx) => issuedTokens.revoke(tx, jti)),
    revokeByGrantId: (grantId) => inTransaction(pool, (tx) => issuedTokens.revokeGrant(tx, grantId)),
  };
}

function stateOf(model: string, dependencies: Dependencies): Partial<Adapter> {
  const { stateStore, clock } = dependencies;
  return {
    upsert: (id, payload, expiresIn = 0) =>
      stateStore.save(model, id, { ...payload }, new Date(clock.nowMs() + expiresIn * 1000)),
    find: (id) => stateStore.find(model, id) as Promise<AdapterPayload | undefined>,
    findByUserCode: (code) => stateStore.findByUid(model, code) as Promise<AdapterPayload | undefined>,
    findByUid: (uid) => stateStore.findByUid(model, uid) as Promise<AdapterPayload | undefined>,
    destroy: (id) => stateStore.remove(model, id),
    // The provider checks for an earlier use and then marks it, which two requests may do at once.
    async consume(id) {
      if (await stateStore.consume(model, id, clock.now())) return;
      const { grantId } = (await stateStore.find(model, id)) ?? {};
      await endGrant(String(grantId), dependencies);
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
