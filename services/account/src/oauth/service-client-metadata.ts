import { randomBytes } from "node:crypto";
import type { AdapterPayload, Client } from "oidc-provider";
import type { ServiceClient } from "../credentials/service-client.ts";

/** The provider insists on a secret in clear, which nobody has; `compareClientSecret` compares with the digests. */
const noSecret = randomBytes(32).toString("base64url");

/** What we keep with the provider's clients, by names that RFC 7591 does not have. */
export const keptWithClients = ["account_id", "service_scopes", "service_expires_at"];

/** A service client as the provider knows it. */
export function metadataOf({ id, name, accountId, scopes, expiresAt }: ServiceClient): AdapterPayload {
  return {
    client_id: id,
    client_name: name,
    client_secret: noSecret,
    grant_types: ["client_credentials"],
    response_types: [],
    redirect_uris: [],
    token_endpoint_auth_method: "client_secret_basic",
    account_id: accountId,
    service_scopes: scopes,
    service_expires_at: expiresAt?.getTime() ?? null,
  } as AdapterPayload;
}

interface KeptWithClient {
  readonly accountId: string;
  readonly scopes: readonly string[];
  readonly expiresAtMs: number | null;
}

/** What we keep with the provider's client; null for an application, which acts for whoever signs in. */
export function serviceClientOf(client: Client): KeptWithClient | null {
  const { account_id: accountId, service_scopes: scopes, service_expires_at: end } = client as unknown as Kept;
  if (typeof accountId !== "string" || !Array.isArray(scopes)) return null;
  return { accountId, scopes, expiresAtMs: typeof end === "number" ? end : null };
}

type Kept = Readonly<Record<string, unknown>>;
