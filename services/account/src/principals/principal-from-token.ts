import type { Principal, TokenVerifier } from "@signalbox/auth";
import type { ProvisionAccountVerb } from "../accounts/provision-account.ts";

interface Dependencies {
  readonly tokens: TokenVerifier;
  readonly provisionAccount: ProvisionAccountVerb;
}

/** The principal of an access token; the first use of an identity makes its account. */
export function createPrincipalFromToken({ tokens, provisionAccount }: Dependencies) {
  return async function principalFromToken(text: string): Promise<Principal> {
    const { issuer, subject, id, claims, kind, scopes, roles, authTimeMs, expiresAt } = await tokens.verify(text);
    const account = await provisionAccount({ identity: { issuer, subject }, claims, credential: id });
    return {
      accountId: account.id,
      state: account.status,
      epoch: account.accessEpoch,
      scopes,
      roles,
      credential: { kind, id, authTimeMs },
      expiresAt,
    };
  };
}
