import type { Caller } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { Actor } from "../audit/audit.ts";
import type { ApiKey } from "./api-key.ts";
import type { ApiKeys } from "./api-keys.ts";
import type { Credential } from "./credential.ts";
import type { CredentialStore } from "./credential-store.ts";
import type { ServiceClient } from "./service-client.ts";
import type { ServiceClients } from "./service-clients.ts";

interface Dependencies {
  readonly keys: Pick<CredentialStore<ApiKey>, "lockLiveCreatedBy">;
  readonly apiKeys: Pick<ApiKeys, "revoke">;
  readonly clients: Pick<CredentialStore<ServiceClient>, "lockLiveCreatedBy">;
  readonly serviceClients: Pick<ServiceClients, "revoke">;
  readonly clock: Clock;
}

export type CredentialDescendants = ReturnType<typeof createCredentialDescendants>;

/** The keys and clients that a credential created, directly or through those. */
export function createCredentialDescendants({ keys, apiKeys, clients, serviceClients, clock }: Dependencies) {
  return {
    /** Counts the live ones. */
    async countLive(tx: Tx, credential: Credential): Promise<number> {
      const [createdKeys, createdClients] = await list(tx, credential);
      return createdKeys.length + createdClients.length;
    },

    /** Revokes the live ones. */
    async revokeAll(tx: Tx, by: Caller | Actor, credential: Credential): Promise<void> {
      const [createdKeys, createdClients] = await list(tx, credential);
      for (const key of createdKeys) await apiKeys.revoke(tx, by, key);
      for (const client of createdClients) await serviceClients.revoke(tx, by, client);
    },
  };

  async function list(tx: Tx, { accountId, id }: Credential) {
    const now = clock.now();
    return [
      await keys.lockLiveCreatedBy(tx, accountId, id, now),
      await clients.lockLiveCreatedBy(tx, accountId, id, now),
    ] as const;
  }
}
