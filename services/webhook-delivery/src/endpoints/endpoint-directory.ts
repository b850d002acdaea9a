import { operators } from "../queue/insert-deliveries.ts";
import type { EndpointStore } from "./endpoint-store.ts";
import type { AccountEndpoints, SigningEndpoint } from "./signing-endpoint.ts";

export type EndpointDirectory = ReturnType<typeof createEndpointDirectory>;

/**
 * The endpoints of accounts in memory, so that an event costs no look-up. A copy may be old: whoever writes deliveries by it
 * hands its fingerprint to the database, and whoever attempts one knows the revision that the endpoint should have.
 */
export function createEndpointDirectory(
  endpointStore: Pick<EndpointStore, "ofAccounts" | "ofOperators">,
  accountsMax: number,
) {
  const known = new Map<string, AccountEndpoints>();
  let operatorEndpoints: AccountEndpoints | null = null;

  async function load(accountIds: readonly string[]): Promise<readonly AccountEndpoints[]> {
    const loaded = await endpointStore.ofAccounts(accountIds);
    for (const account of loaded) {
      known.delete(account.accountId);
      known.set(account.accountId, account);
    }
    for (const accountId of known.keys()) {
      if (known.size <= accountsMax) break;
      known.delete(accountId);
    }
    return loaded;
  }

  return {
    /**
     * The endpoints of these accounts, as they were when they were last looked up. Every account is among them, also one that
     * somebody else makes us forget meanwhile: without it an event would be stored as one that nobody wants.
     */
    async ofAccounts(accountIds: readonly string[]): Promise<AccountEndpoints[]> {
      const found = accountIds.flatMap((accountId) => known.get(accountId) ?? []);
      const unknown = accountIds.filter((accountId) => !known.has(accountId));
      return unknown.length === 0 ? found : [...found, ...(await load(unknown))];
    },

    /** The endpoints for all accounts, under the name of `operators`. */
    async ofOperators(): Promise<AccountEndpoints> {
      operatorEndpoints ??= await endpointStore.ofOperators();
      return operatorEndpoints;
    },

    /** Looks the accounts up again before they are next asked for. */
    forget(accountIds: readonly string[]): void {
      for (const accountId of accountIds) known.delete(accountId);
      if (accountIds.includes(operators)) operatorEndpoints = null;
    },

    /** The endpoint in this revision or a later one; null when it is gone. */
    async find(accountId: string, id: string, revision: number): Promise<SigningEndpoint | null> {
      const endpointOf = () => known.get(accountId)?.endpoints.find((endpoint) => endpoint.id === id) ?? null;
      const found = endpointOf();
      if (found !== null && found.revision >= revision) return found;
      await load([accountId]);
      return endpointOf();
    },
  };
}
