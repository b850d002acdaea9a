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
import type { Source } from "./source.ts";

const columns = {
  id: "text",
  accountId: "text",
  name: "text",
  scheme: "text",
  eventTypes: "jsonb",
  status: "text",
  forward: "bool",
  settings: "jsonb",
  revision: "int4",
  createdAt: "timestamptz",
  updatedAt: "timestamptz",
} as const;
/** What a source shows; its secret is read by itself. */
const sources = table("sources", columns);
const sealedSources = table("sources", { ...columns, sealedSecret: "text" });
const saveSource = sources.update("name", "eventTypes", "status", "forward", "settings", "revision", "updatedAt");
const saveSecret = sealedSources.update("sealedSecret");

const select = `select ${sources.columns} from sources`;
const findSource = sql("source.find", `${select} where id = $1 and account_id = $2`);
const findSources = sql("source.find-many", `${select} where id = any($1) and account_id = $2`);
const listSources = sql("source.list", `${select} where account_id = $1 and ${newestFirst(2)}`);
// A change of a source must not make its deliveries wait, which hold its key.
const lockSource = sql("source.lock", `${select} where id = $1 and account_id = $2 for no key update`);
const lockSources = sql("source.lock-all", `${select} where account_id = $1 order by id for update`);
const countSources = sql("source.count", "select count(*)::int as count from sources where account_id = $1");
// What it received may be more than one statement can delete in its time; a worker does that.
const removeSource = sql(
  "source.remove",
  `with gone as (delete from sources where id = $1 returning id)
   insert into removed_sources (id, removed_at) select id, clock_timestamp() from gone`,
);
const findWithSecret = sql("source.find-with-secret", `select ${sealedSources.columns} from sources where id = $1`);

const place = (id: unknown) => ({ service: "webhook-ingest", table: "sources", row: String(id) });

/** The secrets of sources. */
export const sealedSecrets: readonly SealedColumn[] = [
  { table: "sources", column: "sealed_secret", key: ["id"], place: ([id]) => place(id) },
];

/** Sources in PostgreSQL. Every look-up on behalf of a caller names the account, so another's source reads as missing. */
export function createSourceStore(pool: Pool, sealer: Sealer) {
  const rowsOf = async (from: Queryable, ...query: Parameters<Queryable["query"]>): Promise<Source[]> =>
    (await from.query<Source>(...query)).rows;
  const rowOf = async (...query: Parameters<typeof rowsOf>): Promise<Source | null> =>
    (await rowsOf(...query))[0] ?? null;

  return {
    find: (accountId: string, id: string) => rowOf(pool, findSource, [id, accountId]),
    findMany: (accountId: string, ids: readonly string[]) => rowsOf(pool, findSources, [ids, accountId]),
    list: (accountId: string, range: ListRange) => rowsOf(pool, listSources, [accountId, ...rangeValues(range)]),
    lock: (tx: Tx, accountId: string, id: string) => rowOf(tx, lockSource, [id, accountId]),
    lockAllOf: (tx: Tx, accountId: string) => rowsOf(tx, lockSources, [accountId]),
    /** Counts the account's sources, and keeps others from adding one until the transaction ends. */
    async lockCount(tx: Tx, accountId: string): Promise<number> {
      await advisoryLock(tx, `sources:${accountId}`);
      return (await tx.query<{ count: number }>(countSources, [accountId])).rows[0]?.count ?? 0;
    },
    insert: (tx: Tx, source: Source, secret: string) =>
      sealedSources.insert(tx, { ...source, sealedSecret: sealer.seal(secret, place(source.id)) }),
    /** Writes what may change of a source, and its secret where there is a new one. */
    async save(tx: Tx, source: Source, secret: string | undefined): Promise<void> {
      await saveSource(tx, source);
      const { id } = source;
      if (secret !== undefined) await saveSecret(tx, { id, sealedSecret: sealer.seal(secret, place(id)) });
    },
    remove: async (tx: Tx, id: string): Promise<void> => void (await tx.query(removeSource, [id])),
    /** For ingest: the sender knows the id alone. */
    async findWithSecret(id: string): Promise<{ source: Source; secret: string } | null> {
      const [row] = (await pool.query<Source & { sealedSecret: string }>(findWithSecret, [id])).rows;
      if (row === undefined) return null;
      const { sealedSecret, ...source } = row;
      return { source, secret: sealer.open(sealedSecret, place(id)).toString("utf8") };
    },
  };
}

export type SourceStore = ReturnType<typeof createSourceStore>;
