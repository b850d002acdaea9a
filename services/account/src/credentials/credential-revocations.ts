import type { Caller } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { type Actor, actorOf } from "../audit/audit-log.ts";
import type { Notices } from "../notices/notices.ts";
import type { Accounts } from "../profile/accounts.ts";
import type { ApiKey } from "./api-key.ts";
import type { Credential } from "./credential.ts";
import type { CredentialStore } from "./credential-store.ts";
import type { ServiceClient } from "./service-client.ts";

/** The operation that ends one credential of a kind, and nothing else. */
interface Revoke<C extends Credential> {
  revoke(tx: Tx, by: Caller | Actor, credential: C): Promise<C>;
}

interface Dependencies {
  readonly apiKeyStore: Pick<CredentialStore<ApiKey>, "lockLiveCreatedBy">;
  readonly apiKeys: Revoke<ApiKey>;
  readonly serviceClientStore: Pick<CredentialStore<ServiceClient>, "lockLiveCreatedBy">;
  readonly serviceClients: Revoke<ServiceClient>;
  readonly notices: Pick<Notices, "queue">;
  readonly clock: Clock;
}

/** A credential and its account, both locked. */
export interface HeldCredential<C extends Credential> {
  readonly account: Account;
  readonly credential: C;
}

/** A revoked credential, with the number of live credentials that it created. */
export interface Revoked<C extends Credential> {
  readonly credential: C;
  readonly createdLive: number;
}

export type CredentialRevocations = ReturnType<typeof createCredentialRevocations>;

/** Ends credentials of either kind and, on request, those that they created, directly or through others. */
export function createCredentialRevocations(dependencies: Dependencies) {
  const { apiKeyStore, apiKeys, serviceClientStore, serviceClients, notices, clock } = dependencies;

  return {
    revoke,

    /**
     * Ends a credential of any account, in every state of the account: an administrator answers a leak that its owner
     * has not noticed. The owner gets a notice, and the audit of the account names the administrator.
     */
    async revokeByAdministrator<C extends Credential>(
      tx: Tx,
      caller: Caller,
      kind: Revoke<C>,
      { account, credential }: HeldCredential<C>,
      revokeCreated: boolean,
    ): Promise<Revoked<C>> {
      const revoked = await revoke(tx, actorOf(caller, "administrator"), kind, credential, revokeCreated);
      if (credential.revokedAt === null) await notices.queue(tx, account, { kind: "access-ended", id: credential.id });
      return revoked;
    },
  };

  /** Ends a credential, even one that has ended before, and counts or ends those that it created. */
  async function revoke<C extends Credential>(
    tx: Tx,
    by: Caller | Actor,
    kind: Revoke<C>,
    credential: C,
    revokeCreated: boolean,
  ): Promise<Revoked<C>> {
    if (revokeCreated) {
      const created = await listCreated(tx, credential);
      for (const key of created.keys) await apiKeys.revoke(tx, by, key);
      for (const client of created.clients) await serviceClients.revoke(tx, by, client);
    }
    const revoked = await kind.revoke(tx, by, credential);
    const created = await listCreated(tx, credential);
    return { credential: revoked, createdLive: created.keys.length + created.clients.length };
  }

  async function listCreated(tx: Tx, { accountId, id }: Credential) {
    const now = clock.now();
    return {
      keys: await apiKeyStore.lockLiveCreatedBy(tx, accountId, id, now),
      clients: await serviceClientStore.lockLiveCreatedBy(tx, accountId, id, now),
    };
  }
}

/** Locks the account, then its credential. */
export async function lockWithAccount<C extends Credential>(
  tx: Tx,
  accounts: Pick<Accounts, "lock">,
  store: Pick<CredentialStore<C>, "lock">,
  accountId: string,
  id: string,
): Promise<HeldCredential<C> | null> {
  const account = await accounts.lock(tx, accountId);
  const credential = account && (await store.lock(tx, accountId, id));
  return account && credential && { account, credential };
}
