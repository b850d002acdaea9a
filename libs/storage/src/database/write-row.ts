import { inOneStatement } from "./one-statement.ts";
import type { Pool } from "./pool.ts";
import { inTransaction, type Tx } from "./transaction.ts";

/** The change of one row: how to find it, and what becomes of it. */
export interface RowWrite<Row, Result> {
  /** Whose change it is; see `TransactionOptions.key`. */
  readonly key?: string | undefined;
  /**
   * Reads the row without holding it, for rows that hardly ever have two writers at once: the change is first tried as one
   * statement, which holds only for the row as it was read (see `Table.update`), and begins again under the lock when
   * somebody was quicker or when it has to read.
   */
  readonly read?: (() => Promise<Row | null>) | undefined;
  /** Finds the row and keeps others from changing it until the transaction ends. */
  readonly lock: (tx: Tx) => Promise<Row | null>;
  readonly change: (tx: Tx, row: Row) => Promise<Result>;
}

/** Changes one row in one transaction; null when there is no such row. `change` may run more than once. */
export async function writeRow<Row, Result>(
  pool: Pool,
  { key, read, lock, change }: RowWrite<Row, Result>,
): Promise<{ readonly result: Result } | null> {
  if (read) {
    const row = await read();
    if (row === null) return null;
    const written = await inOneStatement(pool, (tx) => change(tx, row));
    if (written) return written;
  }
  const underLock = async (tx: Tx) => {
    const row = await lock(tx);
    return row === null ? null : { result: await change(tx, row) };
  };
  return inTransaction(pool, underLock, { key });
}
