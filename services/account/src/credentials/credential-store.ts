import { minutes } from "@signalbox/core";
import {
  type ListRange,
  newestFirst,
  type Queryable,
  rangeValues,
  type Statement,
  sql,
  type Table,
  type Tx,
} from "@signalbox/storage";
import type { Credential } from "./credential.ts";

interface StoredAs<C extends Credential, Row> {
  /** Table name; besides its columns it has `end_told_at`. */
  readonly name: string;
  readonly table: Table<keyof C & string>;
  readonly save: (tx: Tx, credential: C) => Promise<boolean>;
  /** Condition for rows that were not replaced. */
  readonly isCurrent: string;
  readonly fromRow: (row: Row) => C;
}

type Values = NonNullable<Parameters<Queryable["query"]>[1]>;
type StatementName =
  | ("find" | "findMany" | "findById" | "findByDigest" | "list")
  | ("lock" | "lockLiveCreatedBy" | "countLive" | "takeExpired" | "touch");

/**
 * Credentials of one kind in PostgreSQL. Requests of a caller name the account, so another account's credential reads
 * as missing.
 */
export class CredentialStore<C extends Credential> {
  // biome-ignore lint/suspicious/noExplicitAny: rows are read by `fromRow` alone, which knows their form.
  readonly #stored: StoredAs<C, any>;
  readonly #statements: Readonly<Record<StatementName, Statement>>;

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  constructor(stored: StoredAs<C, any>) {
    this.#stored = stored;
    this.#statements = statementsOf(stored.name, stored.table.columns, stored.isCurrent);
  }

  async #many(db: Queryable, statement: StatementName, values: Values): Promise<C[]> {
    return (await db.query(this.#statements[statement], values)).rows.map(this.#stored.fromRow);
  }

  async #first(db: Queryable, statement: StatementName, values: Values): Promise<C | null> {
    return (await this.#many(db, statement, values))[0] ?? null;
  }

  find(db: Queryable, accountId: string, id: string): Promise<C | null> {
    return this.#first(db, "find", [accountId, id]);
  }

  /** Finds those of the ids that belong to the account, in no order. */
  findMany(db: Queryable, accountId: string, ids: readonly string[]): Promise<C[]> {
    return this.#many(db, "findMany", [accountId, ids]);
  }

  /** Finds a credential in any state, for requests that do not know the account yet. */
  findById(db: Queryable, id: string): Promise<C | null> {
    return this.#first(db, "findById", [id]);
  }

  findByDigest(db: Queryable, digest: Uint8Array): Promise<C | null> {
    return this.#first(db, "findByDigest", [digest]);
  }

  list(db: Queryable, accountId: string, range: ListRange): Promise<C[]> {
    return this.#many(db, "list", [accountId, ...rangeValues(range)]);
  }

  /** Reads and locks the live credentials of this kind that the credential `id` created, directly or through others. */
  lockLiveCreatedBy(tx: Tx, accountId: string, id: string, now: Date): Promise<C[]> {
    return this.#many(tx, "lockLiveCreatedBy", [accountId, id, now]);
  }

  async insert(tx: Tx, credential: C): Promise<void> {
    await this.#stored.table.insert(tx, credential);
  }

  /** Reads the credential and locks its row until the transaction ends. */
  lock(tx: Tx, accountId: string, id: string): Promise<C | null> {
    return this.#first(tx, "lock", [accountId, id]);
  }

  /** Writes the mutable fields of a locked credential. */
  async save(tx: Tx, credential: C): Promise<void> {
    await this.#stored.save(tx, credential);
  }

  /** Counts live credentials: all, and those that were not replaced. Writers that add one lock the account first. */
  async countLive(tx: Tx, accountId: string, now: Date): Promise<{ live: number; current: number }> {
    const { rows } = await tx.query<{ live: number; current: number }>(this.#statements.countLive, [accountId, now]);
    return rows[0] ?? { live: 0, current: 0 };
  }

  /** Takes up to `limit` expired credentials that were not announced, each once, with their next epoch. */
  takeExpired(tx: Tx, now: Date, limit: number): Promise<C[]> {
    return this.#many(tx, "takeExpired", [now, limit]);
  }

  /** Notes a use, at most once per clock minute. It carries nothing else, so losing one is harmless. */
  async touch(db: Queryable, id: string, at: Date): Promise<void> {
    const minute = new Date(at.getTime() - (at.getTime() % minutes(1)));
    await db.query(this.#statements.touch, [id, at, minute]);
  }
}

/** A revocation announces the end in its own transaction, so only expiries are left to be announced. */
function statementsOf(table: string, columns: string, isCurrent: string): Record<StatementName, Statement> {
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
