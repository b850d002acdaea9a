import type { Caller } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { ApiKey } from "./api-key.ts";
import type { ApiKeys } from "./api-keys.ts";
import type { Credential } from "./credential.ts";
import type { CredentialStore } from "./credential-store.ts";
import type { ServiceClient } from "./service-client.ts";
import type { ServiceClients } from "./service-clients.ts";

interface Dependencies {
  readonly keys: Pick<CredentialStore<ApiKey>, "lockLiveMadeBy">;
  readonly apiKeys: Pick<ApiKeys, "revoke">;
  readonly clients: Pick<CredentialStore<ServiceClient>, "lockLiveMadeBy">;
  readonly serviceClients: Pick<ServiceClients, "revoke">;
  readonly clock: Clock;
}

export type MadeCredentials = ReturnType<typeof createMadeCredentials>;

/** The keys and clients that a credential has made, and those that they have made in turn. */
export function createMadeCredentials({ keys, apiKeys, clients, serviceClients, clock }: Dependencies) {
  return {
    /** Counts those that work. */
    async countLive(tx: Tx, credential: Credential): Promise<number> {
      const [madeKeys, madeClients] = await list(tx, credential);
      return madeKeys.length + madeClients.length;
    },

    /** Revokes all of them that work. */
    async revokeAll(tx: Tx, caller: Caller, credential: Credential): Promise<void> {
      const [madeKeys, madeClients] = await list(tx, credential);
      for (const key of madeKeys) await apiKeys.revoke(tx, caller, key);
      for (const client of madeClients) await serviceClients.revoke(tx, caller, client);
    },
  };

  async function list(tx: Tx, { accountId, id }: Credential) {
    const now = clock.now();
    return [
      await keys.lockLiveMadeBy(tx, accountId, id, now),
      await clients.lockLiveMadeBy(tx, accountId, id, now),
    ] as const;
  }
}
