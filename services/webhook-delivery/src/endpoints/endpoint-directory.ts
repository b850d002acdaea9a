import { LRUCache } from "lru-cache";
import { operators } from "../queue/insert-deliveries.ts";
import type { EndpointStore } from "./endpoint-store.ts";
import type { AccountEndpoints, SigningEndpoint } from "./signing-endpoint.ts";

export type EndpointDirectory = ReturnType<typeof createEndpointDirectory>;

/**
 * Creates the directory: endpoints of accounts in memory, so that an event costs no look-up. A copy may be old, so
 * writers of deliveries hand its fingerprint to the database, and an attempt names the revision that the endpoint
 * should have.
 */
export function createEndpointDirectory(
  endpointStore: Pick<EndpointStore, "ofAccounts" | "ofOperators">,
  accountsMax: number,
) {
  const known = new LRUCache<string, AccountEndpoints>({ max: accountsMax });
  let operatorEndpoints: AccountEndpoints | null = null;

  async function load(accountIds: readonly string[]): Promise<readonly AccountEndpoints[]> {
    const loaded = await endpointStore.ofAccounts(accountIds);
    for (const account of loaded) known.set(account.accountId, account);
    return loaded;
  }

  return {
    /**
     * Returns the endpoints of these accounts as of the last look-up. Every account is in the result, even one that is
     * forgotten meanwhile: without it an event would be stored as one that no endpoint wants.
     */
    async ofAccounts(accountIds: readonly string[]): Promise<AccountEndpoints[]> {
      const found = accountIds.flatMap((accountId) => known.get(accountId) ?? []);
      const unknown = accountIds.filter((accountId) => !known.has(accountId));
      return unknown.length === 0 ? found : [...found, ...(await load(unknown))];
    },

    /** Returns the endpoints with scope `all`, under the account id `operators`. */
    async ofOperators(): Promise<AccountEndpoints> {
      operatorEndpoints ??= await endpointStore.ofOperators();
      return operatorEndpoints;
    },

    /** Removes the accounts from memory, so that the next use looks them up again. */
    forget(accountIds: readonly string[]): void {
      for (const accountId of accountIds) known.delete(accountId);
      if (accountIds.includes(operators)) operatorEndpoints = null;
    },

    /** Returns the endpoint in this revision or a later one; null when it is gone. */
    async find(accountId: string, id: string, revision: number): Promise<SigningEndpoint | null> {
      const endpointOf = () => known.get(accountId)?.endpoints.find((endpoint) => endpoint.id === id) ?? null;
      const found = endpointOf();
      if (found !== null && found.revision >= revision) return found;
      await load([accountId]);
      return endpointOf();
    },
  };
}
