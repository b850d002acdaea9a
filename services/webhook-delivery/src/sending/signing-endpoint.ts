import { type Queryable, type RotatingValue, type Sealer, sql, table } from "@signalbox/storage";
import { type Endpoint, endpointFromRow, withTimes } from "../endpoints/endpoint.ts";
import { type CertificatePair, certificateName, headerName } from "../endpoints/endpoint-settings.ts";
import { compileFilter, type FilterTest } from "../endpoints/event-filter.ts";
import { openCredential, openSecret } from "../endpoints/secret-store.ts";
import { openSigningKey } from "../endpoints/signing-key-store.ts";
import { columns } from "../generated/columns.ts";

/** An endpoint with everything its deliveries need, opened and compiled once. */
export interface SigningEndpoint extends Endpoint {
  readonly secrets: readonly LiveSecret[];
  /** Ed25519 keys of its account, newest first; empty without `v1a`. */
  readonly signingKeys: readonly LiveSecret[];
  readonly filter: FilterTest;
  /** Its own headers; null when a value is missing, which fails every attempt. */
  readonly headers: Readonly<Record<string, string>> | null;
  /** Null without a client certificate; `missing` when it cannot be loaded, which fails every attempt. */
  readonly certificate: CertificatePair | "missing" | null;
}

export interface LiveSecret extends RotatingValue {
  readonly secret: string;
}

export interface AccountEndpoints {
  readonly accountId: string;
  readonly fingerprint: string;
  readonly endpoints: readonly SigningEndpoint[];
}

interface StoredSecret extends RotatingValue {
  readonly sealed: string;
}

interface StoredAccount extends Omit<AccountEndpoints, "endpoints"> {
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

/** Account id that stands for the endpoints with scope `all`. */
export const operators = "*";

/** SQL of the fingerprint: a sum of hashes of ids and revisions, which any change alters. */
export const fingerprintOf = (endpoints: string) => `coalesce(sum(hashtextextended(${endpoints}.id, revision)), 0)`;

const endpoints = table("endpoints", columns.endpoints, ["deletedAt", "releasedAt"]);
const value = "'id', id, 'createdAt', created_at, 'endsAt', expires_at";
const accountsOf = sql(
  "endpoint.accounts",
  `select a.account_id as "accountId", fingerprint, endpoints, (
     select jsonb_agg(jsonb_build_object(${value}, 'sealed', sealed) order by created_at desc, id desc)
     from signing_keys where account_id = a.account_id) as "signingKeys"
   from unnest($1::text[]) as a (account_id) cross join lateral (
     select ${fingerprintOf("p")}::text as fingerprint, coalesce(jsonb_agg(to_jsonb(p) || jsonb_build_object('secrets', (
         select jsonb_agg(jsonb_build_object(${value}, 'sealed', sealed) order by created_at desc, id desc)
         from endpoint_secrets where endpoint_id = coalesce(p."consumerOf", p.id)), 'credentials', (
         select jsonb_object_agg(name, sealed) from endpoint_credentials
         where endpoint_id = coalesce(p."consumerOf", p.id))) order by p.id), '[]')
       as endpoints
     from (select ${endpoints.columns} from endpoints where account_id = a.account_id and deleted_at is null) as p
   ) as account`,
);
const operatorsNow = sql(
  "endpoint.operators",
  `select ${fingerprintOf("p")}::text as fingerprint, array(
     select distinct account_id from endpoints where scope = 'all' and deleted_at is null) as "accountIds"
   from endpoints p where scope = 'all' and deleted_at is null`,
);

export async function readAccounts(db: Queryable, sealer: Sealer, accountIds: readonly string[]) {
  const { rows } = await db.query<StoredAccount>(accountsOf, [accountIds]);
  return rows.map((account) => openAccount(account, sealer));
}

/** Returns all endpoints with scope `all`. The fingerprint is read first, so that it exposes a change in between. */
export async function readOperators(db: Queryable, sealer: Sealer): Promise<AccountEndpoints> {
  const [now] = (await db.query<{ fingerprint: string; accountIds: string[] }>(operatorsNow)).rows;
  const accounts = now && now.accountIds.length > 0 ? await readAccounts(db, sealer, now.accountIds) : [];
  const endpoints = accounts.flatMap((account) => account.endpoints.filter(({ scope }) => scope === "all"));
  return { accountId: operators, fingerprint: now?.fingerprint ?? "0", endpoints };
}

function openAccount(account: StoredAccount, sealer: Sealer): AccountEndpoints {
  const { accountId, fingerprint } = account;
  const keys = withTimes(account.signingKeys).map((key) => ({
    ...key,
    secret: openSigningKey(sealer, key.id, key.sealed),
  }));
  const endpoints = account.endpoints.map((stored) => openEndpoint(stored, keys, sealer));
  return { accountId, fingerprint, endpoints };
}

function openEndpoint(stored: StoredEndpoint, keys: readonly LiveSecret[], sealer: Sealer): SigningEndpoint {
  const { credentials, createdAt, updatedAt, endsAt, ...rest } = stored;
  const times = { createdAt: new Date(createdAt), updatedAt: new Date(updatedAt), endsAt: endsAt && new Date(endsAt) };
  const endpoint = endpointFromRow({ ...rest, ...times } as Endpoint);
  const { settings } = endpoint;
  // The secrets of a consumer are those of its endpoint.
  const owner = stored.consumerOf ?? stored.id;
  const credentialOf = (name: string): string | null => {
    const sealed = credentials?.[name];
    return sealed === undefined ? null : openCredential(sealer, owner, name, sealed);
  };
  const filter = settings.filter === null ? acceptAll : compileFilter(settings.filter);
  return {
    ...endpoint,
    secrets: withTimes(stored.secrets).map((one) => ({ ...one, secret: openSecret(sealer, owner, one.sealed) })),
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
