import { entryLimit } from "@signalbox/core";
import type { RotatingValue } from "@signalbox/storage";
import { LRUCache } from "lru-cache";
import { type Endpoint, endpointFromRow, withTimes } from "./endpoint.ts";
import { type CertificatePair, certificateName, headerName } from "./endpoint-settings.ts";
import { compileFilter, type FilterTest } from "./event-filter.ts";

/** Account id that stands for the endpoints with scope `all`. */
export const operators = "*";

/**
 * SQL of the fingerprint: the sum of hashes of ids and revisions, which changes with every change, creation and
 * deletion.
 */
export const fingerprintOf = (endpoints: string) => `coalesce(sum(hashtextextended(${endpoints}.id, revision)), 0)`;

/** Reads endpoints with all that their deliveries need: the store. */
interface EndpointSource {
  readonly ofAccounts: (accountIds: readonly string[]) => Promise<AccountEndpoints[]>;
  /** Reads the endpoints with scope `all`. */
  readonly ofOperators: () => Promise<AccountEndpoints>;
}

export type EndpointCache = ReturnType<typeof createEndpointCache>;

/**
 * Creates the directory: endpoints of accounts in memory, so that an event costs no look-up. A copy may be old, so
 * writers of deliveries hand its fingerprint to the database, and an attempt names the revision that the endpoint
 * should have.
 */
export function createEndpointCache(endpointStore: EndpointSource, accountsMax: number) {
  const known = new LRUCache<string, AccountEndpoints>(entryLimit(accountsMax));
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

/** A secret that signs deliveries until its end. */
export interface LiveSecret extends RotatingValue {
  readonly secret: string;
}

/** An endpoint with everything its deliveries need, opened and compiled once. */
export interface SigningEndpoint extends Endpoint {
  /** Newest first. */
  readonly secrets: readonly LiveSecret[];
  /** Ed25519 keys of its account, newest first; empty without `v1a`. */
  readonly signingKeys: readonly LiveSecret[];
  readonly filter: FilterTest;
  /** Its own headers; null when a value is missing, which fails every attempt. */
  readonly headers: Readonly<Record<string, string>> | null;
  /** Null without a client certificate; `missing` when it cannot be loaded, which fails every attempt. */
  readonly certificate: CertificatePair | "missing" | null;
}

/** The endpoints of one account at one moment. */
export interface AccountEndpoints {
  readonly accountId: string;
  /** A text that changes with any of the endpoints. */
  readonly fingerprint: string;
  readonly endpoints: readonly SigningEndpoint[];
}

interface StoredSecret extends RotatingValue {
  readonly sealed: string;
}

export interface StoredAccount extends Omit<AccountEndpoints, "endpoints"> {
  readonly endpoints: readonly StoredEndpoint[];
  readonly signingKeys: readonly StoredSecret[] | null;
}

/** An endpoint as read from JSON: times are texts. */
interface StoredEndpoint extends Omit<Endpoint, "createdAt" | "updatedAt" | "endsAt"> {
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly endsAt: string | null;
  readonly secrets: readonly StoredSecret[];
  readonly credentials: Readonly<Record<string, string>> | null;
}

/** Functions that open the sealed texts of each kind. */
export interface Opening {
  secret(endpointId: string, sealed: string): string;
  credential(endpointId: string, name: string, sealed: string): string;
  signingKey(id: string, sealed: string): string;
}

/** Opens the sealed parts of an account's endpoints, and compiles their filters. */
export function openAccount(account: StoredAccount, opening: Opening): AccountEndpoints {
  const { accountId, fingerprint } = account;
  const keys = withTimes(account.signingKeys).map((key) => ({
    ...key,
    secret: opening.signingKey(key.id, key.sealed),
  }));
  const endpoints = account.endpoints.map((stored) => openEndpoint(stored, keys, opening));
  return { accountId, fingerprint, endpoints };
}

function openEndpoint(stored: StoredEndpoint, keys: readonly LiveSecret[], opening: Opening): SigningEndpoint {
  const { credentials, createdAt, updatedAt, endsAt, ...rest } = stored;
  const times = { createdAt: new Date(createdAt), updatedAt: new Date(updatedAt), endsAt: endsAt && new Date(endsAt) };
  const endpoint = endpointFromRow({ ...rest, ...times } as Endpoint);
  const { settings } = endpoint;
  // The secrets of a consumer are those of its endpoint.
  const owner = stored.consumerOf ?? stored.id;
  const credentialOf = (name: string): string | null => {
    const sealed = credentials?.[name];
    return sealed === undefined ? null : opening.credential(owner, name, sealed);
  };
  const filter = settings.filter === null ? acceptAll : compileFilter(settings.filter);
  return {
    ...endpoint,
    secrets: withTimes(stored.secrets).map((one) => ({ ...one, secret: opening.secret(owner, one.sealed) })),
    signingKeys: settings.signatures.includes("v1a") ? keys : [],
    filter: typeof filter === "function" ? filter : acceptAll,
    headers: headersOf(endpoint, credentialOf),
    certificate: settings.client_certificate && certificateOf(credentialOf(certificateName)),
  };
}

const acceptAll: FilterTest = () => true;
const certificateOf = (text: string | null): CertificatePair | "missing" =>
  text === null ? "missing" : (JSON.parse(text) as CertificatePair);

function headersOf({ settings }: Endpoint, credentialOf: (name: string) => string | null) {
  const headers: Record<string, string> = {};
  for (const { name, value } of settings.headers) {
    const text = value ?? credentialOf(headerName(name));
    if (text === null) return null;
    headers[name] = text;
  }
  return headers;
}
