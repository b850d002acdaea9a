import { minutes } from "@signalbox/core";
import {
  type ListRange,
  newestFirst,
  type Pool,
  type Queryable,
  rangeValues,
  sql,
  type Table,
  type Tx,
} from "@signalbox/storage";
import type { Credential } from "./credential.ts";

/**
 * Credentials of one kind in PostgreSQL. Requests of a caller name the account, so another account's credential reads
 * as missing.
 */
export interface CredentialStore<C extends Credential> {
  find(accountId: string, id: string): Promise<C | null>;
  /** Finds those of the ids that belong to the account, in no order. */
  findMany(accountId: string, ids: readonly string[]): Promise<C[]>;
  /** Finds a credential in any state, for requests that do not know the account yet. */
  findById(id: string): Promise<C | null>;
  findByDigest(digest: Uint8Array): Promise<C | null>;
  list(accountId: string, range: ListRange): Promise<C[]>;
  /** Reads and locks the live credentials of this kind that the credential `id` created, directly or through others. */
  lockLiveCreatedBy(tx: Tx, accountId: string, id: string, now: Date): Promise<C[]>;
  insert(tx: Tx, credential: C): Promise<void>;
  /** Reads the credential and locks its row until the transaction ends. */
  lock(tx: Tx, accountId: string, id: string): Promise<C | null>;
  /** Writes the mutable fields of a locked credential. */
  save(tx: Tx, credential: C): Promise<void>;
  /** Counts live credentials: all, and those that were not replaced. Writers that add one lock the account first. */
  countLive(tx: Tx, accountId: string, now: Date): Promise<{ readonly live: number; readonly current: number }>;
  /** Takes up to `limit` expired credentials that were not announced, each once, with their next epoch. */
  takeExpired(tx: Tx, now: Date, limit: number): Promise<C[]>;
  /** Notes a use, at most once per clock minute. It carries nothing else, so losing one is harmless. */
  touch(id: string, at: Date): Promise<void>;
}

interface StoredAs<C extends Credential, Row> {
  /** Table name; besides its columns it has `end_told_at`. */
  readonly name: string;
  readonly table: Table<keyof C & string>;
  readonly save: (tx: Tx, credential: C) => Promise<boolean>;
  /** Condition for rows that were not replaced. */
  readonly isCurrent: string;
  readonly fromRow: (row: Row) => C;
}

export function createCredentialStore<C extends Credential, Row>(
  pool: Pool,
  { name, table, save, isCurrent, fromRow }: StoredAs<C, Row>,
): CredentialStore<C> {
  const statements = statementsOf(name, table.columns, isCurrent);
  const many = async (db: Queryable, ...query: Parameters<Queryable["query"]>): Promise<C[]> =>
    (await db.query<Row>(...query)).rows.map(fromRow);
  const first = async (db: Queryable, ...query: Parameters<Queryable["query"]>) =>
    (await many(db, ...query))[0] ?? null;
  return {
    find: (accountId, id) => first(pool, statements.find, [accountId, id]),
    findMany: (accountId, ids) => many(pool, statements.findMany, [accountId, ids]),
    findById: (id) => first(pool, statements.findById, [id]),
    findByDigest: (digest) => first(pool, statements.findByDigest, [digest]),
    list: (accountId, range) => many(pool, statements.list, [accountId, ...rangeValues(range)]),
    lockLiveCreatedBy: (tx, accountId, id, now) => many(tx, statements.lockLiveCreatedBy, [accountId, id, now]),
    insert: (tx, credential) => table.insert(tx, credential),
    lock: (tx, accountId, id) => first(tx, statements.lock, [accountId, id]),
    save: async (tx, credential) => void (await save(tx, credential)),
    async countLive(tx, accountId, now) {
      const { rows } = await tx.query<{ live: number; current: number }>(statements.countLive, [accountId, now]);
      return rows[0] ?? { live: 0, current: 0 };
    },
    takeExpired: (tx, now, limit) => many(tx, statements.takeExpired, [now, limit]),
    async touch(id, at) {
      const minute = new Date(at.getTime() - (at.getTime() % minutes(1)));
      await pool.query(statements.touch, [id, at, minute]);
    },
  };
}

/** A revocation announces the end in its own transaction, so only expiries are left to be announced. */
function statementsOf(table: string, columns: string, isCurrent: string) {
  const select = `select ${columns} from ${table}`;
  return {
    find: sql(`${table}.find`, `${select} where account_id = $1 and id = $2`),
    findMany: sql(`${table}.find-many`, `${select} where account_id = $1 and id = any ($2)`),
    findById: sql(`${table}.find-by-id`, `${select} where id = $1`),
    findByDigest: sql(`${table}.find-by-digest`, `${select} where digest = $1`),
    list: sql(`${table}.list`, `${select} where account_id = $1 and ${newestFirst(2)}`),
    lock: sql(`${table}.lock`, `${select} where account_id = $1 and id = $2 for update`),
    lockLiveCreatedBy: sql(
      `${table}.lock-live-made-by`,
      `with recursive created as (
         select id, created_by from api_keys where account_id = $1
         union all select id, created_by from service_clients where account_id = $1
       ), made as (
         select id from created where created_by = $2
         union select created.id from created join made on created.created_by = made.id
       )
       ${select} where account_id = $1 and id in (select id from made) and revoked_at is null
         and (expires_at is null or expires_at > $3) order by id for update`,
    ),
    countLive: sql(
      `${table}.count-live`,
      `select count(*)::int as live, (count(*) filter (where ${isCurrent}))::int as current from ${table}
       where account_id = $1 and revoked_at is null and (expires_at is null or expires_at > $2)`,
    ),
    takeExpired: sql(
      `${table}.take-expired`,
      `update ${table} set end_told_at = $1, access_epoch = access_epoch + 1
       where id in (
         select id from ${table} where end_told_at is null and revoked_at is null and expires_at <= $1
         order by expires_at limit $2 for update skip locked)
       returning ${columns}`,
    ),
    touch: sql(
      `${table}.touch`,
      `update ${table} set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at < $3)`,
    ),
  };
}
