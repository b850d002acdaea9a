import type { Viewer } from "@signalbox/auth";
import {
  advisoryLock,
  containing,
  type ListRange,
  newestFirst,
  type Pool,
  type Queryable,
  rangeValues,
  sql,
  type Tx,
  table,
} from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import { type Endpoint, endpointFromRow } from "./endpoint.ts";
import {
  type AccountEndpoints,
  fingerprintOf,
  type Opening,
  openAccount,
  operators,
  type StoredAccount,
} from "./endpoint-cache.ts";
import { endpointsSeen, seen } from "./endpoint-id.ts";

const endpoints = table("endpoints", columns.endpoints, ["deletedAt", "releasedAt"]);
const saveEndpoint = endpoints.update(
  "url",
  "description",
  "eventTypes",
  "status",
  "disabledReason",
  "settings",
  "revision",
  "updatedAt",
);

const value = "'id', id, 'createdAt', created_at, 'endsAt', expires_at";
const liveSecrets = `(select jsonb_agg(jsonb_build_object(${value}) order by created_at desc, id desc) from endpoint_secrets
  where endpoint_id = endpoints.id and (expires_at is null or expires_at > statement_timestamp()))`;
const select = `select ${endpoints.columns}, ${liveSecrets} as secrets from endpoints`;
const findEndpoint = sql(
  "endpoint.find",
  `${select} where id = $1 and account_id = $2 and consumer_of is null and deleted_at is null`,
);
const findEndpoints = sql(
  "endpoint.find-many",
  `${select} where id = any($1) and account_id = $2 and consumer_of is null and deleted_at is null`,
);
const listEndpoints = sql(
  "endpoint.list",
  `${select} where account_id = $1 and consumer_of is null and deleted_at is null
     and ($5::text is null or status = $5) and ($6::text is null or type = $6)
     and ($7::text is null or description ilike $7 or (type = 'push' and url ilike $7))
     and ($8::bool is null or $8 = exists (
       select from endpoint_health where endpoint_id = endpoints.id and failing_since is not null))
     and ($9::text[] is null or id = any($9)) and ${newestFirst(2)}`,
);
const lockEndpoint = sql("endpoint.lock", "select from endpoints where id = $1 and account_id = $2 for update");
const lockEndpointById = sql("endpoint.lock-by-id", `${select} where id = $1 and deleted_at is null for update`);
const lockEndpoints = sql(
  "endpoint.lock-all",
  `${select} where account_id = $1 and deleted_at is null order by id for update`,
);
const countEndpoints = sql(
  "endpoint.count",
  "select count(*)::int as count from endpoints where account_id = $1 and consumer_of is null and deleted_at is null",
);
const removeEndpoint = sql("endpoint.remove", "update endpoints set deleted_at = $2 where id = $1 or consumer_of = $1");
const releaseEndpoint = sql(
  "endpoint.release",
  "update endpoints set released_at = statement_timestamp() where id = $1 or consumer_of = $1",
);
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
/** Consumers have the settings and the status of their endpoint. */
const alignConsumers = sql(
  "endpoint.align-consumers",
  `update endpoints as c set description = p.description, event_types = p.event_types, status = p.status,
     disabled_reason = p.disabled_reason, settings = p.settings, revision = c.revision + 1, updated_at = p.updated_at
   from endpoints as p where p.id = $1 and c.consumer_of = $1`,
);
const touchEndpoints = sql(
  "endpoint.touch-all",
  "update endpoints set revision = revision + 1 where account_id = $1 and deleted_at is null",
);

export interface EndpointFilter {
  readonly status?: Endpoint["status"] | undefined;
  readonly type?: Endpoint["type"] | undefined;
  /** A part of the URL or of the description. */
  readonly text?: string | undefined;
  /** True for endpoints whose attempts fail now. */
  readonly failing?: boolean | undefined;
}

/**
 * Stores endpoints in PostgreSQL. Every look-up for a caller names the account, so another account's endpoint reads as
 * missing.
 */
export function createEndpointStore(pool: Pool, opening: Opening) {
  const rowsOf = async (from: Queryable, ...query: Parameters<Queryable["query"]>): Promise<Endpoint[]> =>
    (await from.query<Endpoint>(...query)).rows.map(endpointFromRow);
  const rowOf = async (...query: Parameters<typeof rowsOf>): Promise<Endpoint | null> =>
    (await rowsOf(...query))[0] ?? null;
  return {
    find: async (viewer: Viewer, id: string) =>
      seen(viewer, await rowOf(pool, findEndpoint, [id, viewer.accountId]), idOf),
    findMany: async (viewer: Viewer, ids: readonly string[]) =>
      (await rowsOf(pool, findEndpoints, [ids, viewer.accountId])).filter((row) => seen(viewer, row, idOf)),
    list: (viewer: Viewer, range: ListRange, { status, type, text, failing }: EndpointFilter = {}) =>
      rowsOf(pool, listEndpoints, [
        viewer.accountId,
        ...rangeValues(range),
        ...[status ?? null, type ?? null, text === undefined ? null : containing(text), failing ?? null],
        endpointsSeen(viewer),
      ]),
    /** Locks the endpoint, and then reads it: a statement that waits for the lock reads secrets of before. */
    async lock(tx: Tx, viewer: Viewer, id: string): Promise<Endpoint | null> {
      await tx.query(lockEndpoint, [id, viewer.accountId]);
      return seen(viewer, await rowOf(tx, findEndpoint, [id, viewer.accountId]), idOf);
    },
    lockById: (tx: Tx, id: string) => rowOf(tx, lockEndpointById, [id]),
    lockAllOf: (tx: Tx, accountId: string) => rowsOf(tx, lockEndpoints, [accountId]),
    /** Counts the account's endpoints, and blocks a concurrent insert until the transaction ends. */
    async lockCount(tx: Tx, accountId: string): Promise<number> {
      await advisoryLock(tx, `endpoints:${accountId}`);
      return (await tx.query<{ count: number }>(countEndpoints, [accountId])).rows[0]?.count ?? 0;
    },
    /** Returns all endpoints of the accounts, with the secrets and keys that sign their deliveries. */
    async ofAccounts(accountIds: readonly string[]): Promise<AccountEndpoints[]> {
      const { rows } = await pool.query<StoredAccount>(accountsOf, [accountIds]);
      return rows.map((account) => openAccount(account, opening));
    },
    /**
     * Returns all endpoints with scope `all`. The fingerprint is read first, so that it exposes a change in between.
     */
    async ofOperators(): Promise<AccountEndpoints> {
      const [now] = (await pool.query<{ fingerprint: string; accountIds: string[] }>(operatorsNow)).rows;
      const accounts = now && now.accountIds.length > 0 ? await this.ofAccounts(now.accountIds) : [];
      const endpoints = accounts.flatMap((account) => account.endpoints.filter(({ scope }) => scope === "all"));
      return { accountId: operators, fingerprint: now?.fingerprint ?? "0", endpoints };
    },
    insert: (tx: Tx, endpoint: Endpoint): Promise<void> => endpoints.insert(tx, endpoint),
    /** Increments the revision of every endpoint of the account, so that copies in memory are looked up again. */
    touchAll: async (tx: Tx, accountId: string): Promise<void> => void (await tx.query(touchEndpoints, [accountId])),
    /** Saves the endpoint, and what its consumers have in common with it. */
    async save(tx: Tx, endpoint: Endpoint): Promise<void> {
      await saveEndpoint(tx, endpoint);
      if (endpoint.type === "pull") await tx.query(alignConsumers, [endpoint.id]);
    },
    /** Records the time of release. Deliveries due by then were held, and go out slowly. */
    release: async (tx: Tx, id: string): Promise<void> => void (await tx.query(releaseEndpoint, [id])),
    /** Hides the endpoint at once; a worker removes it with its deliveries. */
    remove: async (tx: Tx, id: string, at: Date): Promise<void> => void (await tx.query(removeEndpoint, [id, at])),
  };
}

const idOf = ({ id }: Endpoint): string => id;

export type EndpointStore = ReturnType<typeof createEndpointStore>;
