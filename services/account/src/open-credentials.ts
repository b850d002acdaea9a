import { parseIssuers } from "@signalbox/auth";
import type { Base } from "./base.ts";
import { createApiKeyStore } from "./credentials/api-key.ts";
import { createApiKeys } from "./credentials/api-keys.ts";
import { createCredentialRevocations } from "./credentials/credential-revocations.ts";
import { createServiceClientStore } from "./credentials/service-client.ts";
import { createServiceClients } from "./credentials/service-clients.ts";
import { createPortalSessionStore } from "./portal-sessions/portal-session-store.ts";
import { createPortalSessions } from "./portal-sessions/portal-sessions.ts";
import type { Configured } from "./properties.ts";

export type Credentials = ReturnType<typeof openCredentials>;

/** Opens the API keys, service clients and portal sessions of accounts. */
export function openCredentials({ configuration, clock }: Configured, base: Base) {
  const { pool, outbox, audit, access, notices } = base;
  const apiKeyStore = createApiKeyStore(pool);
  const apiKeys = createApiKeys({
    apiKeyStore,
    keyEnvironment: configuration.get("account.api-keys.environment"),
    keysMax: () => configuration.get("account.api-keys.max"),
    outbox,
    audit,
    access,
    notices,
    clock,
  });
  const serviceClientStore = createServiceClientStore(pool);
  const serviceClients = createServiceClients({
    serviceClientStore,
    clientsMax: () => configuration.get("account.clients.max"),
    hasIssuer: parseIssuers(configuration.get("auth.issuers")).length === 0,
    outbox,
    audit,
    access,
    notices,
    clock,
  });
  const credentialRevocations = createCredentialRevocations({
    apiKeyStore,
    apiKeys,
    serviceClientStore,
    serviceClients,
    notices,
    clock,
  });
  const portalSessionStore = createPortalSessionStore(pool);
  const portalSessions = createPortalSessions({ portalSessionStore, audit, access, clock });
  const ofKeys = { apiKeyStore, apiKeys, serviceClientStore, serviceClients, credentialRevocations };
  return { ...ofKeys, portalSessionStore, portalSessions };
}
