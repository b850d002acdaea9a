import { randomBytes } from "node:crypto";
import type { AdapterPayload, Client } from "oidc-provider";
import { findApplication } from "../applications/application-store.ts";
import { acceptsApplicationSecret } from "../applications/stored-application.ts";
import type { Actor, RequestOrigin } from "../audit/audit-log.ts";
import { statusOf } from "../credentials/credential.ts";
import {
  acceptsSecret,
  digestClientSecret,
  findUsableClient,
  type ServiceClient,
  serviceClientStore,
} from "../credentials/service-client.ts";
import { metadataOfApplication } from "./application-clients.ts";
import type { IdentityService } from "./identity-service.ts";

// The clients that are rows, for the provider: service clients, and applications that administrators created.

/** Finds a client. Revoked and expired clients, and those of deleted accounts, are unknown. */
export async function findClient({ pool, clock }: IdentityService, id: string): Promise<AdapterPayload | undefined> {
  if (isApplicationId(id)) {
    const application = await findApplication(pool, id);
    return application ? (metadataOfApplication(application, noSecret) as AdapterPayload) : undefined;
  }
  const client = await findUsableClient(pool, id);
  return client && statusOf(client, clock.now()) === "active" ? metadataOf(client) : undefined;
}

/** Compares a secret with the client's digests, and notes the use of the client. */
export async function acceptsClientSecret(
  { pool, clock, log }: IdentityService,
  id: string,
  secret: string,
): Promise<boolean> {
  if (isApplicationId(id)) {
    const application = await findApplication(pool, id);
    return application !== null && acceptsApplicationSecret(application, secret, clock.now());
  }
  const digest = digestClientSecret(secret);
  const client = await findUsableClient(pool, id);
  if (!digest || !client || !acceptsSecret(client, digest, clock.now())) return false;
  serviceClientStore
    .touch(pool, id, clock.now())
    .catch((error) => log.warn({ error }, "the last use of a client could not be recorded"));
  return true;
}

/** Notifies the owner of a request with a wrong secret, or with a client that has ended. */
export async function noteRefusedClient(service: IdentityService, id: string, from: RequestOrigin): Promise<void> {
  const client = await serviceClientStore.findById(service.pool, id);
  if (!client) return;
  const { accountId } = client;
  const reason = await reasonOf(service, client);
  const by: Actor = { kind: "owner", accountId, credential: id, ...from };
  const fields = [reason === "wrong_secret" ? "client_secret" : "status"];
  service.auditRefusals.record({ accountId, operation: "client.use", reason, fields, subject: id, by });
}

async function reasonOf({ clock, pool }: IdentityService, client: ServiceClient): Promise<string> {
  const status = statusOf(client, clock.now());
  if (status !== "active") return status;
  return (await findUsableClient(pool, client.id)) ? "wrong_secret" : "account_deleted";
}

/** Returns true for the form of an id of an application that an administrator created. */
const isApplicationId = (id: string): boolean => /^app_[0-9A-Za-z]{1,60}$/.test(id);

/** Returns true for the id of an application: one that stays the same until a restart, or a row. */
export async function isApplication({ settings, pool }: IdentityService, id: string): Promise<boolean> {
  if (settings.applications.some((fixed) => fixed.id === id)) return true;
  return isApplicationId(id) && (await findApplication(pool, id)) !== null;
}

/** Our own metadata of a service client, by names that RFC 7591 does not define. */
export const serviceClientMetadata = ["account_id", "service_scopes", "service_expires_at"];

/** The provider requires a secret in clear text, which is not stored: secrets are compared by their digests. */
const noSecret = randomBytes(32).toString("base64url");

function metadataOf({ id, name, accountId, scopes, expiresAt }: ServiceClient): AdapterPayload {
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

interface KnownServiceClient {
  readonly accountId: string;
  readonly scopes: readonly string[];
  readonly expiresAtMs: number | null;
}

/** Reads our service client from the provider's client; null for an application, which acts for its users. */
export function serviceClientOf(client: Client | undefined): KnownServiceClient | null {
  const kept = (client ?? {}) as Readonly<Record<string, unknown>>;
  const { account_id: accountId, service_scopes: scopes, service_expires_at: end } = kept;
  if (typeof accountId !== "string" || !Array.isArray(scopes)) return null;
  return { accountId, scopes, expiresAtMs: typeof end === "number" ? end : null };
}
