import type { OidcIssuer } from "@signalbox/testing";
import { type Client, createClient, expectStatus } from "../journey/client.ts";
import { type System, unlimited } from "./system.ts";

type Headers = Record<string, string>;

/** Properties of a system that trusts the test's issuer, without limits, so that only access is judged. */
export function trusting({ issuer, audience }: OidcIssuer): Record<string, string> {
  const trusted = { name: "tests", issuer, audience, "roles-claim": "roles" };
  return {
    ...unlimited,
    "auth.issuers": JSON.stringify([trusted]),
    "account.issuer.enabled": "false",
    "account.api-keys.max": "1000",
  };
}

/** A person with a valid token and a key. */
export interface TrustedPerson {
  readonly accountId: string;
  readonly token: Headers;
  readonly key: Headers;
}

/** Signs a person in whose role allows everything. */
export async function newPerson(system: System, issuer: OidcIssuer): Promise<TrustedPerson> {
  const claims = { sub: crypto.randomUUID(), roles: ["admin"], auth_time: Math.floor(Date.now() / 1000) };
  const token = { authorization: `Bearer ${issuer.sign(claims, { expiresInSeconds: 900 })}` };
  const send = owner(system, token);
  const { id: accountId } = expectStatus(await send("/api/account/"), 200).json;
  const body = { name: "key", scopes: ["account:write", "config:admin"] };
  const { key } = expectStatus(await send("/api/account/api-keys/", { body }), 201).json;
  return { accountId, token, key: { "x-api-key": key } };
}

export const owner = (system: System, headers: Headers): Client => {
  const send = createClient(system.baseUrl);
  return (path, request = {}) => send(path, { ...request, headers: { ...request.headers, ...headers } });
};
