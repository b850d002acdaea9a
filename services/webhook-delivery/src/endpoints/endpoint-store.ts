import type { Viewer } from "@signalbox/auth";
import {
  advisoryLock,
  containing,
  type ListRange,
  newestFirst,
  type Queryable,
  rangeValues,
  sql,
  type Tx,
  table,
} from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import { type Endpoint, endpointFromRow } from "./endpoint.ts";
import { endpointsSeen, seen } from "./endpoint-id.ts";
import { endpointFor } from "./portal-view.ts";

const endpoints = table("endpoints", columns.endpoints, ["deletedAt", "releasedAt"]);
const save = endpoints.update(
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
const find = sql(
  "endpoint.find",
  `${select} where id = $1 and account_id = $2 and consumer_of is null and deleted_at is null`,
);
const findMany = sql(
  "endpoint.find-many",
  `${select} where id = any($1) and account_id = $2 and consumer_of is null and deleted_at is null`,
);
const list = sql(
  "endpoint.list",
  `${select} where account_id = $1 and consumer_of is null and deleted_at is null
     and ($5::text is null or status = $5) and ($6::text is null or type = $6)
     and ($7::text is null or description ilike $7 or (type = 'push' and url ilike $7))
     and ($8::bool is null or $8 = exists (
       select from endpoint_health where endpoint_id = endpoints.id and failing_since is not null))
     and ($9::text[] is null or id = any($9)) and ${newestFirst(2)}`,
);
const lock = sql("endpoint.lock", "select from endpoints where id = $1 and account_id = $2 for update");
const lockById = sql("endpoint.lock-by-id", `${select} where id = $1 and deleted_at is null for update`);
const lockAll = sql(
  "endpoint.lock-all",
  `${select} where account_id = $1 and deleted_at is null order by id for update`,
);
const count = sql(
  "endpoint.count",
  "select count(*)::int as count from endpoints where account_id = $1 and consumer_of is null and deleted_at is null",
);
const remove = sql("endpoint.remove", "update endpoints set deleted_at = $2 where id = $1 or consumer_of = $1");
const release = sql(
  "endpoint.release",
  `with first as (
     update endpoint_rates set drains_per_second = default, adapted_at = null where endpoint_id = $1
   )
   update endpoints set released_at = statement_timestamp() where id = $1 or consumer_of = $1`,
);
/** Consumers have the settings and the status of their endpoint. */
const alignConsumers = sql(
  "endpoint.align-consumers",
  `update endpoints as c set description = p.description, event_types = p.event_types, status = p.status,
     disabled_reason = p.disabled_reason, settings = p.settings, revision = c.revision + 1, updated_at = p.updated_at
   from endpoints as p where p.id = $1 and c.consumer_of = $1`,
);
const touchAll = sql(
  "endpoint.touch-all",
  "update endpoints set revision = revision + 1 where account_id = $1 and deleted_at is null",
);

export interface EndpointFilter {
  readonly status?: Endpoint["status"] | undefined;
  readonly type?: Endpoint["type"] | undefined;
  readonly text?: string | undefined;
  readonly failing?: boolean | undefined;
}

const rowsOf = async (db: Queryable, ...query: Parameters<Queryable["query"]>): Promise<Endpoint[]> =>
  (await db.query<Endpoint>(...query)).rows.map(endpointFromRow);
const rowOf = async (...query: Parameters<typeof rowsOf>): Promise<Endpoint | null> =>
  (await rowsOf(...query))[0] ?? null;

/** Returns an endpoint of the viewer's account, as they may see it; another account's reads as missing. */
export async function findEndpoint(db: Queryable, viewer: Viewer, id: string): Promise<Endpoint | null> {
  const endpoint = seen(viewer, await rowOf(db, find, [id, viewer.accountId]));
  return endpoint && endpointFor(viewer, endpoint);
}

export const findEndpoints = async (db: Queryable, viewer: Viewer, ids: readonly string[]): Promise<Endpoint[]> =>
  (await rowsOf(db, findMany, [ids, viewer.accountId]))
    .filter((row) => seen(viewer, row))
    .map((row) => endpointFor(viewer, row));

export const listEndpoints = async (
  db: Queryable,
  viewer: Viewer,
  range: ListRange,
  { status, type, text, failing }: EndpointFilter = {},
): Promise<Endpoint[]> => {
  const rows = await rowsOf(db, list, [
    viewer.accountId,
    ...rangeValues(range),
    ...[status ?? null, type ?? null, text === undefined ? null : containing(text), failing ?? null],
    endpointsSeen(viewer),
  ]);
  return rows.map((row) => endpointFor(viewer, row));
};

/** Locks, then reads: a statement that waits for the lock reads older secrets. Show it with `endpointFor`. */
export async function lockEndpoint(tx: Tx, viewer: Viewer, id: string): Promise<Endpoint | null> {
  await tx.query(lock, [id, viewer.accountId]);
  return seen(viewer, await rowOf(tx, find, [id, viewer.accountId]));
}

/** Locks an endpoint of any account, for the service's own changes. */
export const lockEndpointById = (tx: Tx, id: string): Promise<Endpoint | null> => rowOf(tx, lockById, [id]);

export const lockEndpointsOf = (tx: Tx, accountId: string): Promise<Endpoint[]> => rowsOf(tx, lockAll, [accountId]);

/** Counts the account's endpoints, and blocks a concurrent insert until the transaction ends. */
export async function lockEndpointCount(tx: Tx, accountId: string): Promise<number> {
  await advisoryLock(tx, `endpoints:${accountId}`);
  return (await tx.query<{ count: number }>(count, [accountId])).rows[0]?.count ?? 0;
}

export const insertEndpoint = (tx: Tx, endpoint: Endpoint): Promise<void> => endpoints.insert(tx, endpoint);

/** Increments the revision of every endpoint of the account, so that copies in memory are looked up again. */
export const touchEndpointsOf = async (tx: Tx, accountId: string): Promise<void> =>
  void (await tx.query(touchAll, [accountId]));

/** Saves the endpoint, and what its consumers have in common with it. */
export async function saveEndpoint(tx: Tx, endpoint: Endpoint): Promise<void> {
  await save(tx, endpoint);
  if (endpoint.type === "pull") await tx.query(alignConsumers, [endpoint.id]);
}

/** Records the time of release. Deliveries due by then were held, and drain at the first rate. */
export const releaseEndpoint = async (tx: Tx, id: string): Promise<void> => void (await tx.query(release, [id]));

/** Hides the endpoint at once; a worker removes it with its deliveries. */
export const removeEndpoint = async (tx: Tx, id: string, at: Date): Promise<void> =>
  void (await tx.query(remove, [id, at]));
