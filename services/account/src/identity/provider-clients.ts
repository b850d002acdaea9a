import { randomBytes } from "node:crypto";
import type { Clock } from "@signalbox/core";
import type { AuditRefusals } from "@signalbox/service";
import type { Logger } from "@signalbox/telemetry";
import type { AdapterPayload, Client } from "oidc-provider";
import type { ApplicationStore } from "../applications/application-store.ts";
import { acceptsApplicationSecret } from "../applications/stored-application.ts";
import type { Actor } from "../audit/audit-log.ts";
import { statusOf } from "../credentials/credential.ts";
import {
  acceptsSecret,
  digestClientSecret,
  type ServiceClient,
  type ServiceClientStore,
} from "../credentials/service-client.ts";
import { metadataOfApplication } from "./application-clients.ts";

export type ProviderClients = ReturnType<typeof createProviderClients>;

interface Dependencies {
  readonly serviceClientStore: Pick<ServiceClientStore, "findUsable" | "findById" | "touch">;
  readonly applicationStore: Pick<ApplicationStore, "find">;
  readonly auditRefusals: Pick<AuditRefusals, "record">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
}

/** The clients that are rows, for the provider: service clients, and applications that administrators created. */
export function createProviderClients({
  serviceClientStore,
  applicationStore,
  auditRefusals,
  clock,
  log,
}: Dependencies) {
  return {
    /** Finds a client. Revoked and expired clients, and those of deleted accounts, are unknown. */
    async find(id: string): Promise<AdapterPayload | undefined> {
      if (isApplicationId(id)) {
        const application = await applicationStore.find(id);
        return application ? (metadataOfApplication(application, noSecret) as AdapterPayload) : undefined;
      }
      const client = await serviceClientStore.findUsable(id);
      return client && statusOf(client, clock.now()) === "active" ? metadataOf(client) : undefined;
    },

    /** Compares a secret with the client's digests, and notes the use of the client. */
    async accepts(id: string, secret: string): Promise<boolean> {
      if (isApplicationId(id)) {
        const application = await applicationStore.find(id);
        return application !== null && acceptsApplicationSecret(application, secret, clock.now());
      }
      const digest = digestClientSecret(secret);
      const client = await serviceClientStore.findUsable(id);
      if (!digest || !client || !acceptsSecret(client, digest, clock.now())) return false;
      serviceClientStore
        .touch(id, clock.now())
        .catch((error) => log.warn({ error }, "the last use of a client could not be recorded"));
      return true;
    },

    /** Notifies the owner of a request with a wrong secret, or with a client that has ended. */
    async noteRefused(id: string, from: Pick<Actor, "address" | "requestId">): Promise<void> {
      const client = await serviceClientStore.findById(id);
      if (!client) return;
      const { accountId } = client;
      const reason = await reasonOf(client);
      const by: Actor = { kind: "owner", accountId, credential: id, ...from };
      const fields = [reason === "wrong_secret" ? "client_secret" : "status"];
      auditRefusals.record({ accountId, operation: "client.use", reason, fields, subject: id, by });
    },
  };

  async function reasonOf(client: ServiceClient): Promise<string> {
    const status = statusOf(client, clock.now());
    if (status !== "active") return status;
    return (await serviceClientStore.findUsable(client.id)) ? "wrong_secret" : "account_deleted";
  }
}

/** Returns true for the form of an id of an application that an administrator created. */
export const isApplicationId = (id: string): boolean => /^app_[0-9A-Za-z]{1,60}$/.test(id);

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
