import type { Clock } from "@signalbox/core";
import { type Adapter, type AdapterFactory, type AdapterPayload, errors } from "oidc-provider";
import { statusOf } from "../credentials/credential.ts";
import type { ServiceClientStore } from "../credentials/service-client.ts";
import type { IssuedTokenStore } from "./issued-token-store.ts";
import type { OauthStateStore } from "./oauth-state-store.ts";
import type { PresentedToken } from "./presented-token.ts";
import type { RevokeTokens } from "./revoke-tokens.ts";
import { metadataOf } from "./service-client-metadata.ts";

interface Dependencies {
  readonly oauthState: OauthStateStore;
  readonly issuedTokens: Pick<IssuedTokenStore, "find">;
  readonly clients: Pick<ServiceClientStore, "findUsable">;
  readonly presentedToken: PresentedToken;
  readonly revokeTokens: RevokeTokens;
  readonly clock: Clock;
}

/** Where the provider keeps and finds things: service clients, access tokens, and everything else as sealed state. */
export function createAdapter(dependencies: Dependencies): AdapterFactory {
  const { oauthState, issuedTokens, clients, presentedToken, revokeTokens, clock } = dependencies;

  return (model) => {
    if (model === "Client") return { ...unsupported, find: findClient };
    if (model === "AccessToken") return { ...unsupported, ...accessTokens("token") };
    if (model === "ClientCredentials") return { ...unsupported, ...accessTokens("client") };
    return { ...unsupported, ...state(model) };
  };

  /** A client that is revoked, has expired or whose account is deleted is one that nobody knows. */
  async function findClient(id: string): Promise<AdapterPayload | undefined> {
    const client = await clients.findUsable(id);
    return client && statusOf(client, clock.now()) === "active" ? metadataOf(client) : undefined;
  }

  /** Access tokens are JWTs and kept nowhere: one is found when it was presented with this very request. */
  function accessTokens(kind: "token" | "client"): Pick<Adapter, "find" | "destroy" | "revokeByGrantId"> {
    return {
      async find(jti) {
        const token = presentedToken.of(kind, jti);
        const issued = token && (await issuedTokens.find(jti));
        if (!issued) return undefined;
        const { aud, exp, iat, scope, account_id } = token.claims;
        return {
          kind: kind === "token" ? "AccessToken" : "ClientCredentials",
          jti,
          clientId: issued.clientId,
          ...(kind === "token" && { accountId: token.subject }),
          ...(typeof scope === "string" && { scope }),
          aud,
          exp,
          iat,
          // Without the grant: the end of one access token is not the end of what it came from.
          extra: { account_id },
        } as AdapterPayload;
      },
      destroy: (jti) => revokeTokens.revokeAccessToken(jti),
      revokeByGrantId: (grantId) => revokeTokens.revokeGrant(grantId),
    };
  }

  function state(model: string): Partial<Adapter> {
    return {
      upsert: (id, payload, expiresIn = 0) =>
        oauthState.save(model, id, { ...payload }, new Date(clock.nowMs() + expiresIn * 1000)),
      find: (id) => oauthState.find(model, id) as Promise<AdapterPayload | undefined>,
      findByUid: (uid) => oauthState.findByUid(model, uid) as Promise<AdapterPayload | undefined>,
      destroy: (id) => oauthState.remove(model, id),
      // The provider looks whether it was used before and then marks it, which two requests may do at once.
      async consume(id) {
        if (await oauthState.consume(model, id, clock.now())) return;
        const { grantId } = (await oauthState.find(model, id)) ?? {};
        if (typeof grantId === "string") await revokeTokens.revokeGrant(grantId);
        throw new errors.InvalidGrant("already used");
      },
      // Whenever the provider ends one kind of a grant's tokens it ends all, access tokens among them.
      revokeByGrantId: async () => {},
    };
  }
}

const refuse = () => Promise.reject(new Error("the provider has asked for what is switched off"));

const unsupported: Adapter = {
  upsert: refuse,
  find: refuse,
  findByUid: refuse,
  findByUserCode: refuse,
  consume: refuse,
  destroy: refuse,
  revokeByGrantId: refuse,
};
