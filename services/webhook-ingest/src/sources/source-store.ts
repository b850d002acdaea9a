import {
  advisoryLock,
  type Ending,
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
import { columns } from "../generated/columns.ts";
import type { Source } from "./source.ts";

/** Columns that a source shows; its secrets are read separately. */
const sources = table("sources", columns.sources, ["sealedSecret", "sealedFormerSecrets", "sealedVerifyToken"]);
const sealedSources = table("sources", columns.sources);
const saveSource = sources.update("name", "eventTypes", "status", "forward", "settings", "revision", "updatedAt");
const saveAddresses = sources.update("address", "formerAddresses", "formerAddressesEndAt", "revision", "updatedAt");
const saveSecrets = sealedSources.update(
  "sealedSecret",
  "sealedFormerSecrets",
  "sealedVerifyToken",
  "formerSecretsEndAt",
);

const select = `select ${sources.columns} from sources`;
const findSource = sql("source.find", `${select} where id = $1 and account_id = $2`);
const findSources = sql("source.find-many", `${select} where id = any($1) and account_id = $2`);
const listSources = sql("source.list", `${select} where account_id = $1 and ${newestFirst(2)}`);
// `no key update`, so that a change of a source does not block its deliveries, which lock its key.
const lockSource = sql("source.lock", `${select} where id = $1 and account_id = $2 for no key update`);
const lockSources = sql("source.lock-all", `${select} where account_id = $1 order by id for update`);
const countSources = sql("source.count", "select count(*)::int as count from sources where account_id = $1");
// A source may have received more than one statement can delete in time; a worker removes that.
const removeSource = sql(
  "source.remove",
  `with gone as (delete from sources where id = $1 returning id)
   insert into removed_sources (id, removed_at) select id, clock_timestamp() from gone`,
);
const findWithSecrets = sql("source.find-with-secrets", `select ${sealedSources.columns} from sources where id = $1`);

const findIdAt = sql("source.find-id-at", "select id from sources where address = $1 or former_addresses @> array[$1]");

const place = (id: unknown) => ({ service: "webhook-ingest", table: "sources", row: String(id) });
const placeOfFormer = (id: unknown) => place(`${id} former`);
const placeOfToken = (id: unknown) => place(`${id} verify token`);

/** Secrets of a partner: the current one, and the former ones with their ends. */
export interface SourceSecrets {
  readonly current: string;
  readonly former: readonly FormerSecret[];
  /** Token that Meta sends with its verification request. */
  readonly verifyToken: string | null;
}

interface FormerSecret extends Ending {
  readonly secret: string;
}

interface SealedSource extends Source {
  readonly sealedSecret: string;
  /** JSON of the former secrets, sealed as one text; null without any. */
  readonly sealedFormerSecrets: string | null;
  readonly sealedVerifyToken: string | null;
}

/** Sealed columns with the secrets of sources. */
export const sealedSecrets: readonly SealedColumn[] = [
  sealedColumn("sealed_secret", place),
  sealedColumn("sealed_former_secrets", placeOfFormer),
  sealedColumn("sealed_verify_token", placeOfToken),
];

function sealedColumn(column: string, placeOf: typeof place): SealedColumn {
  const condition = `${column} is not null`;
  return { table: "sources", column, key: ["id"], place: ([id]) => placeOf(id), condition };
}

/**
 * Stores sources in PostgreSQL. Every look-up for a caller names the account, so another account's source reads as
 * missing.
 */
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
    /** Counts the account's sources, and blocks a concurrent insert until the transaction ends. */
    async lockCount(tx: Tx, accountId: string): Promise<number> {
      await advisoryLock(tx, `sources:${accountId}`);
      return (await tx.query<{ count: number }>(countSources, [accountId])).rows[0]?.count ?? 0;
    },
    insert: (tx: Tx, source: Source, secrets: SourceSecrets) =>
      sealedSources.insert(tx, { ...source, ...sealed(source.id, secrets) }),
    /** Saves the changeable fields of a source, and its secrets if given. */
    async save(tx: Tx, source: Source, secrets?: SourceSecrets): Promise<void> {
      await saveSource(tx, source);
      if (secrets) await saveSecrets(tx, { id: source.id, ...sealed(source.id, secrets) });
    },
    saveAddresses,
    /** Returns the id of the source with this present or former address. */
    findIdAt: async (address: string): Promise<string | null> =>
      (await pool.query<{ id: string }>(findIdAt, [address])).rows[0]?.id ?? null,
    remove: async (tx: Tx, id: string): Promise<void> => void (await tx.query(removeSource, [id])),
    /** Finds a source for ingest, by its id alone: the sender has no account. */
    async findWithSecrets(
      id: string,
      from: Queryable = pool,
    ): Promise<{ source: Source; secrets: SourceSecrets } | null> {
      const [row] = (await from.query<SealedSource>(findWithSecrets, [id])).rows;
      if (row === undefined) return null;
      const { sealedSecret, sealedFormerSecrets, sealedVerifyToken, ...source } = row;
      const former = sealedFormerSecrets ? sealer.open(sealedFormerSecrets, placeOfFormer(id)).toString("utf8") : "[]";
      const formerSecrets = JSON.parse(former) as FormerSecret[];
      return {
        source,
        secrets: {
          current: sealer.open(sealedSecret, place(id)).toString("utf8"),
          former: formerSecrets.map(({ secret }, at) => ({
            secret,
            endsAt: source.formerSecretsEndAt[at] ?? source.updatedAt,
          })),
          verifyToken: sealedVerifyToken && sealer.open(sealedVerifyToken, placeOfToken(id)).toString("utf8"),
        },
      };
    },
  };

  function sealed(id: string, { current, former, verifyToken }: SourceSecrets) {
    return {
      sealedSecret: sealer.seal(current, place(id)),
      sealedFormerSecrets: former.length === 0 ? null : sealer.seal(JSON.stringify(former), placeOfFormer(id)),
      sealedVerifyToken: verifyToken === null ? null : sealer.seal(verifyToken, placeOfToken(id)),
      formerSecretsEndAt: former.flatMap(({ endsAt }) => endsAt ?? []),
    };
  }
}

export type SourceStore = ReturnType<typeof createSourceStore>;
