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
import { defaultSettings, type Endpoint } from "./endpoint.ts";

/** What signs deliveries: the secret, and the one before it while a rotation overlaps. */
export interface SigningSecrets {
  readonly secret: string;
  readonly previousSecret: string | null;
}

/** The sealed columns, as rows carry them. */
export interface SealedSecrets {
  readonly sealedSecret: string;
  readonly sealedPreviousSecret: string | null;
  readonly previousSecretUntil: Date | null;
}

const columns = {
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
} as const;
/** What an endpoint shows; its secrets are read by themselves. */
const endpoints = table("endpoints", columns);
const sealedEndpoints = table("endpoints", { ...columns, sealedSecret: "text" });
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
const findEndpoint = sql("endpoint.find", `${select} where id = $1 and account_id = $2`);
const findEndpoints = sql("endpoint.find-many", `${select} where id = any($1) and account_id = $2`);
const listEndpoints = sql("endpoint.list", `${select} where account_id = $1 and ${newestFirst(2)}`);
const lockEndpoint = sql("endpoint.lock", `${select} where id = $1 and account_id = $2 for update`);
const lockEndpoints = sql("endpoint.lock-all", `${select} where account_id = $1 order by id for update`);
const countEndpoints = sql("endpoint.count", "select count(*)::int as count from endpoints where account_id = $1");
const removeEndpoint = sql("endpoint.remove", "delete from endpoints where id = $1");
/** Their deliveries go with them. Also those whose endpoints are gone. */
const removeEventsOf = sql("endpoint.remove-events-of", "delete from webhook_events where account_id = $1");
// Against a pause, resume or removal under way: what is held for an endpoint must be seen by whoever releases it.
const lockSubscribers = sql(
  "endpoint.lock-subscribers",
  `${select} where account_id = $1 and created_at <= $2 order by id for key share`,
);
const lockStatus = sql("endpoint.lock-status", "select status from endpoints where id = $1 for key share");
const rotateSecret = sql(
  "endpoint.rotate-secret",
  `update endpoints set sealed_previous_secret = sealed_secret, previous_secret_until = $3, sealed_secret = $2 where id = $1`,
);
const findSecret = sql(
  "endpoint.find-secret",
  `select sealed_secret as "sealedSecret" from endpoints where id = $1 and account_id = $2`,
);

const place = (id: unknown) => ({ service: "webhook-delivery", table: "endpoints", row: String(id) });

/** The secrets of endpoints. */
export const sealedSecrets: readonly SealedColumn[] = ["sealed_secret", "sealed_previous_secret"].map((column) => ({
  table: "endpoints",
  column,
  key: ["id"],
  place: ([id]) => place(id),
}));

const withEverySetting = (row: Endpoint): Endpoint => ({ ...row, settings: { ...defaultSettings, ...row.settings } });

/** Endpoints in PostgreSQL. Every look-up on behalf of a caller names the account, so another's endpoint reads as missing. */
export function createEndpointStore(pool: Pool, sealer: Sealer) {
  const open = (id: string, sealed: string): string => sealer.open(sealed, place(id)).toString("utf8");
  const rowsOf = async (from: Queryable, ...query: Parameters<Queryable["query"]>): Promise<Endpoint[]> =>
    (await from.query<Endpoint>(...query)).rows.map(withEverySetting);
  const rowOf = async (...query: Parameters<typeof rowsOf>): Promise<Endpoint | null> =>
    (await rowsOf(...query))[0] ?? null;

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
    /** The account's endpoints that were there when an event of `at` was committed; they stay as they are until the end. */
    lockSubscribers: (tx: Tx, accountId: string, at: Date) => rowsOf(tx, lockSubscribers, [accountId, at]),
    /** Tells whether its deliveries wait. It stays so until the end of the transaction. */
    async isHolding(tx: Tx, id: string): Promise<boolean> {
      const [row] = (await tx.query<{ status: string }>(lockStatus, [id])).rows;
      return row !== undefined && row.status !== "enabled";
    },
    insert: (tx: Tx, endpoint: Endpoint, secret: string) =>
      sealedEndpoints.insert(tx, { ...endpoint, sealedSecret: sealer.seal(secret, place(endpoint.id)) }),
    save: async (tx: Tx, endpoint: Endpoint): Promise<void> => void (await saveEndpoint(tx, endpoint)),
    remove: async (tx: Tx, id: string): Promise<void> => void (await tx.query(removeEndpoint, [id])),
    /** Removes every event of an account, with its body. */
    removeEventsOf: async (tx: Tx, accountId: string): Promise<void> =>
      void (await tx.query(removeEventsOf, [accountId])),
    rotateSecret: async (tx: Tx, id: string, secret: string, previousUntil: Date): Promise<void> =>
      void (await tx.query(rotateSecret, [id, sealer.seal(secret, place(id)), previousUntil])),
    /** The secret as it was shown; null when the account has no such endpoint. */
    async findSecret(tx: Tx, accountId: string, id: string): Promise<string | null> {
      const [row] = (await tx.query<{ sealedSecret: string }>(findSecret, [id, accountId])).rows;
      return row === undefined ? null : open(id, row.sealedSecret);
    },
    /** Opens what a row carries; the previous secret only while its time lasts. */
    openSecrets(id: string, sealed: SealedSecrets, at: Date): SigningSecrets {
      const { sealedSecret, sealedPreviousSecret, previousSecretUntil } = sealed;
      const overlaps = sealedPreviousSecret !== null && previousSecretUntil !== null && previousSecretUntil > at;
      return { secret: open(id, sealedSecret), previousSecret: overlaps ? open(id, sealedPreviousSecret) : null };
    },
  };
}

export type EndpointStore = ReturnType<typeof createEndpointStore>;
