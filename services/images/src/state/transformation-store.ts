import { seconds } from "@signalbox/core";
import {
  Copies,
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
import type { TransformationForm } from "./content-query.ts";

/** A form of content that its owner has named. */
export interface Transformation {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly form: TransformationForm;
  /** True when it is rendered for every new image. */
  readonly eager: boolean;
  /** The account's number of the last change of its form, and of its last change. */
  readonly version: number;
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const transformations = table("transformations", columns.transformations);
const update = transformations.update("form", "eager", "version", "revision", "updatedAt");

const select = `select ${transformations.columns} from transformations where account_id = $1`;
const statements = {
  all: sql("transformation.all", `${select} order by name`),
  list: sql("transformation.list", `${select} and ${newestFirst(2)}`),
  find: sql("transformation.find", `${select} and name = $2`),
  lock: sql("transformation.lock", `${select} and name = $2 for update`),
  // Two concurrent changes must neither take one number nor both fit under the limit: the second waits for the first.
  lockCounter: sql(
    "transformation.lock-counter",
    `insert into transformation_counters (account_id, last) values ($1, 0)
   on conflict (account_id) do update set last = transformation_counters.last returning last`,
  ),
  saveCounter: sql("transformation.save-counter", "update transformation_counters set last = $2 where account_id = $1"),
  remove: sql("transformation.remove", "delete from transformations where id = $1"),
  removeOf: sql("transformation.remove-of", "delete from transformations where account_id = $1"),
  removeCounter: sql("transformation.remove-counter", "delete from transformation_counters where account_id = $1"),
};

/** As long as the copies of image records. */
const copies = { max: 10_000, ttlMs: seconds(1) };

/** The transformations of accounts, and copies of those that were used a moment ago. */
export class TransformationStore {
  readonly #pool: Pool;
  readonly #ofAccounts: Copies<readonly Transformation[]>;

  constructor(pool: Pool) {
    this.#pool = pool;
    this.#ofAccounts = new Copies((accountId) => this.readAll(pool, accountId), copies);
  }

  /** Finds the transformations of an account, at most a second old. */
  findAll(accountId: string): Promise<readonly Transformation[]> {
    return this.#ofAccounts.find(accountId);
  }

  /** Returns true while `findAll` would return these very ones. */
  isCurrent(accountId: string, found: readonly Transformation[]): boolean {
    return this.#ofAccounts.holds(accountId, found);
  }

  /** Reads the transformations of an account as they are now. */
  async readAll(db: Queryable, accountId: string): Promise<readonly Transformation[]> {
    return (await db.query<Transformation>(statements.all, [accountId])).rows;
  }

  async list(accountId: string, range: ListRange): Promise<Transformation[]> {
    return (await this.#pool.query<Transformation>(statements.list, [accountId, ...rangeValues(range)])).rows;
  }

  async find(accountId: string, name: string): Promise<Transformation | null> {
    return (await this.#pool.query<Transformation>(statements.find, [accountId, name])).rows[0] ?? null;
  }

  async lock(tx: Tx, accountId: string, name: string): Promise<Transformation | null> {
    return (await tx.query<Transformation>(statements.lock, [accountId, name])).rows[0] ?? null;
  }

  /** Reads the number of the account's last change, and blocks other changes. */
  async lockNumber(tx: Tx, accountId: string): Promise<number> {
    return (await tx.query<{ readonly last: number }>(statements.lockCounter, [accountId])).rows[0]?.last ?? 0;
  }

  /** Writes a new transformation, or a change, whose revision is the next of the locked number. */
  async save(tx: Tx, transformation: Transformation, { isNew }: { readonly isNew: boolean }): Promise<void> {
    const { accountId, revision } = transformation;
    await (isNew ? transformations.insert(tx, transformation) : update(tx, transformation));
    await tx.query(statements.saveCounter, [accountId, revision]);
    this.#ofAccounts.forgetAfter(tx, [accountId]);
  }

  async remove(tx: Tx, { id, accountId }: Transformation): Promise<void> {
    await tx.query(statements.remove, [id]);
    this.#ofAccounts.forgetAfter(tx, [accountId]);
  }

  async removeOf(tx: Tx, accountId: string): Promise<void> {
    for (const statement of [statements.removeOf, statements.removeCounter]) await tx.query(statement, [accountId]);
    this.#ofAccounts.forgetAfter(tx, [accountId]);
  }
}
