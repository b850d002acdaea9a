import { entryLimit } from "@signalbox/core";
import { LRUCache } from "lru-cache";
import { type AccountEndpoints, operators, type SigningEndpoint } from "./signing-endpoint.ts";

interface EndpointSource {
  readonly ofAccounts: (accountIds: readonly string[]) => Promise<readonly AccountEndpoints[]>;
  readonly ofOperators: () => Promise<AccountEndpoints>;
}

/** The endpoints of accounts in memory. A copy may be old: writers hand its fingerprint to the database. */
export class EndpointCache {
  readonly #source: EndpointSource;
  readonly #known: LRUCache<string, AccountEndpoints>;
  #operatorEndpoints: AccountEndpoints | null = null;

  constructor(source: EndpointSource, accountsMax: number) {
    this.#source = source;
    this.#known = new LRUCache(entryLimit(accountsMax));
  }

  /** Returns the endpoints of every account as of the last look-up: one left out would lose its events. */
  async ofAccounts(accountIds: readonly string[]): Promise<AccountEndpoints[]> {
    const found = accountIds.flatMap((accountId) => this.#known.get(accountId) ?? []);
    const unknown = accountIds.filter((accountId) => !this.#known.has(accountId));
    return unknown.length === 0 ? found : [...found, ...(await this.#load(unknown))];
  }

  async ofOperators(): Promise<AccountEndpoints> {
    this.#operatorEndpoints ??= await this.#source.ofOperators();
    return this.#operatorEndpoints;
  }

  /** Removes the accounts from memory, so that the next use looks them up again. */
  forget(accountIds: readonly string[]): void {
    for (const accountId of accountIds) this.#known.delete(accountId);
    if (accountIds.includes(operators)) this.#operatorEndpoints = null;
  }

  /** Returns the endpoint in this revision or a later one; null when it is gone. */
  async find(accountId: string, id: string, revision: number): Promise<SigningEndpoint | null> {
    const found = this.#endpointOf(accountId, id);
    if (found !== null && found.revision >= revision) return found;
    await this.#load([accountId]);
    return this.#endpointOf(accountId, id);
  }

  #endpointOf(accountId: string, id: string): SigningEndpoint | null {
    return this.#known.get(accountId)?.endpoints.find((endpoint) => endpoint.id === id) ?? null;
  }

  async #load(accountIds: readonly string[]): Promise<readonly AccountEndpoints[]> {
    const loaded = await this.#source.ofAccounts(accountIds);
    for (const account of loaded) this.#known.set(account.accountId, account);
    return loaded;
  }
}
