import { newId } from "@signalbox/core";
import {
  advisoryLock,
  type ListRange,
  newestFirst,
  type Pool,
  type Queryable,
  rangeValues,
  type SealedColumn,
  type Sealer,
  sql,
  type Tx,
  table,
} from "@signalbox/storage";
import { fingerprintOf } from "../queue/insert-deliveries.ts";
import { defaultSettings, type Endpoint } from "./endpoint.ts";

/** A secret that signs deliveries until it expires; the newest has no end. */
interface LiveSecret {
  readonly secret: string;
  readonly expiresAt: Date | null;
}

/** An endpoint with what signs its deliveries, newest first. */
export interface SigningEndpoint extends Endpoint {
  readonly secrets: readonly LiveSecret[];
}

/** The endpoints of one account at one moment. */
export interface AccountEndpoints {
  readonly accountId: string;
  /** Changes with any of them. */
  readonly fingerprint: string;
  readonly endpoints: readonly SigningEndpoint[];
}

const endpoints = table("endpoints", {
  id: "text",
  accountId: "text",
  url: "text",
  description: "text",
  eventTypes: "jsonb",
  status: "text",
  disabledReason: "text",
  settings: "jsonb",
  revision: "int4",
  createdAt: "timestamptz",
  updatedAt: "timestamptz",
});
const secrets = table("endpoint_secrets", {
  id: "text",
  endpointId: "text",
  sealed: "text",
  createdAt: "timestamptz",
  expiresAt: "timestamptz",
});
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

const select = `select ${endpoints.columns} from endpoints`;
const findEndpoint = sql("endpoint.find", `${select} where id = $1 and account_id = $2 and deleted_at is null`);
const findEndpoints = sql(
  "endpoint.find-many",
  `${select} where id = any($1) and account_id = $2 and deleted_at is null`,
);
const listEndpoints = sql(
  "endpoint.list",
  `${select} where account_id = $1 and deleted_at is null and ${newestFirst(2)}`,
);
const lockEndpoint = sql("endpoint.lock", `${findEndpoint.text} for update`);
const lockEndpoints = sql(
  "endpoint.lock-all",
  `${select} where account_id = $1 and deleted_at is null order by id for update`,
);
const countEndpoints = sql(
  "endpoint.count",
  "select count(*)::int as count from endpoints where account_id = $1 and deleted_at is null",
);
const removeEndpoint = sql("endpoint.remove", "update endpoints set deleted_at = $2 where id = $1");
const accountsOf = sql(
  "endpoint.accounts",
  `select a.account_id as "accountId", fingerprint, endpoints
   from unnest($1::text[]) as a (account_id) cross join lateral (
     select ${fingerprintOf("p")}::text as fingerprint, coalesce(jsonb_agg(to_jsonb(p) || jsonb_build_object('secrets', (
         select jsonb_agg(jsonb_build_object('sealed', sealed, 'expiresAt', expires_at) order by created_at desc, id desc)
         from endpoint_secrets where endpoint_id = p.id)) order by p.id), '[]') as endpoints
     from (${select} where account_id = a.account_id and deleted_at is null) as p
   ) as account`,
);
const expireSecrets = sql(
  "endpoint.expire-secrets",
  "update endpoint_secrets set expires_at = $2 where endpoint_id = $1 and expires_at is null",
);
const forgetSecrets = sql(
  "endpoint.forget-secrets",
  "delete from endpoint_secrets where endpoint_id = $1 and expires_at <= $2",
);
const removePrevious = sql(
  "endpoint.remove-previous-secrets",
  "delete from endpoint_secrets where endpoint_id = $1 and expires_at is not null",
);
const countSecrets = sql(
  "endpoint.count-secrets",
  "select count(*)::int as count from endpoint_secrets where endpoint_id = $1",
);
const findSecret = sql(
  "endpoint.find-secret",
  `select sealed from endpoint_secrets join endpoints p on p.id = endpoint_id
   where endpoint_id = $1 and account_id = $2 and deleted_at is null and expires_at is null`,
);

const place = (endpointId: unknown) => ({ service: "webhook-delivery", table: "endpoints", row: String(endpointId) });

/** The secrets of endpoints. */
export const sealedSecrets: readonly SealedColumn[] = [
  { table: "endpoint_secrets", column: "sealed", key: ["endpoint_id", "id"], place: ([id]) => place(id) },
];

const withEverySetting = <Row extends Endpoint>(row: Row): Row => ({
  ...row,
  settings: { ...defaultSettings, ...row.settings },
});

/** Endpoints in PostgreSQL. Every look-up on behalf of a caller names the account, so another's endpoint reads as missing. */
export function createEndpointStore(pool: Pool, sealer: Sealer) {
  const open = (id: string, sealed: string): string => sealer.open(sealed, place(id)).toString("utf8");
  const rowsOf = async (from: Queryable, ...query: Parameters<Queryable["query"]>): Promise<Endpoint[]> =>
    (await from.query<Endpoint>(...query)).rows.map(withEverySetting);
  const rowOf = async (...query: Parameters<typeof rowsOf>): Promise<Endpoint | null> =>
    (await rowsOf(...query))[0] ?? null;
  const insertSecret = (tx: Tx, endpointId: string, secret: string, at: Date) =>
    secrets.insert(tx, {
      id: newId("whk", at.getTime()),
      endpointId,
      sealed: sealer.seal(secret, place(endpointId)),
      createdAt: at,
      expiresAt: null,
    });

  return {
    find: (accountId: string, id: string) => rowOf(pool, findEndpoint, [id, accountId]),
    findMany: (accountId: string, ids: readonly string[]) => rowsOf(pool, findEndpoints, [ids, accountId]),
    list: (accountId: string, range: ListRange) => rowsOf(pool, listEndpoints, [accountId, ...rangeValues(range)]),
    lock: (tx: Tx, accountId: string, id: string) => rowOf(tx, lockEndpoint, [id, accountId]),
    lockAllOf: (tx: Tx, accountId: string) => rowsOf(tx, lockEndpoints, [accountId]),
    /** Counts the account's endpoints, and keeps others from adding one until the transaction ends. */
    async lockCount(tx: Tx, accountId: string): Promise<number> {
      await advisoryLock(tx, `endpoints:${accountId}`);
      return (await tx.query<{ count: number }>(countEndpoints, [accountId])).rows[0]?.count ?? 0;
    },
    /** All endpoints of the accounts, with what signs their deliveries. */
    async ofAccounts(accountIds: readonly string[]): Promise<AccountEndpoints[]> {
      const { rows } = await pool.query<StoredAccount>(accountsOf, [accountIds]);
      return rows.map((account) => ({ ...account, endpoints: account.endpoints.map(openStored(open)) }));
    },
    async insert(tx: Tx, endpoint: Endpoint, secret: string): Promise<void> {
      await endpoints.insert(tx, endpoint);
      await insertSecret(tx, endpoint.id, secret, endpoint.createdAt);
    },
    save: async (tx: Tx, endpoint: Endpoint): Promise<void> => void (await saveEndpoint(tx, endpoint)),
    /** Hides the endpoint at once; a worker removes it with its deliveries. */
    remove: async (tx: Tx, id: string, at: Date): Promise<void> => void (await tx.query(removeEndpoint, [id, at])),

    /** Counts the secrets that sign at this time; forgets those that have expired. */
    async countLiveSecrets(tx: Tx, id: string, at: Date): Promise<number> {
      await tx.query(forgetSecrets, [id, at]);
      return (await tx.query<{ count: number }>(countSecrets, [id])).rows[0]?.count ?? 0;
    },
    /** Adds a secret, the newest; the one before it expires then. */
    async addSecret(tx: Tx, id: string, secret: string, at: Date, previousUntil: Date): Promise<void> {
      await tx.query(expireSecrets, [id, previousUntil]);
      await insertSecret(tx, id, secret, at);
    },
    /** Removes all secrets but the newest; answers how many. */
    removePreviousSecrets: async (tx: Tx, id: string): Promise<number> =>
      (await tx.query(removePrevious, [id])).rowCount,
    /** The newest secret as it was shown; null when the account has no such endpoint. */
    async findSecret(tx: Tx, accountId: string, id: string): Promise<string | null> {
      const [row] = (await tx.query<{ sealed: string }>(findSecret, [id, accountId])).rows;
      return row === undefined ? null : open(id, row.sealed);
    },
  };
}

export type EndpointStore = ReturnType<typeof createEndpointStore>;

interface StoredAccount extends Omit<AccountEndpoints, "endpoints"> {
  readonly endpoints: readonly StoredEndpoint[];
}

/** As JSON has it: times are texts. */
interface StoredEndpoint extends Omit<Endpoint, "createdAt" | "updatedAt"> {
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly secrets: readonly { readonly sealed: string; readonly expiresAt: string | null }[] | null;
}

const openStored =
  (open: (id: string, sealed: string) => string) =>
  (stored: StoredEndpoint): SigningEndpoint =>
    withEverySetting({
      ...stored,
      createdAt: new Date(stored.createdAt),
      updatedAt: new Date(stored.updatedAt),
      secrets: (stored.secrets ?? []).map(({ sealed, expiresAt }) => ({
        secret: open(stored.id, sealed),
        expiresAt: expiresAt === null ? null : new Date(expiresAt),
      })),
    });
