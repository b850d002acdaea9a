import { inOneStatement } from "./one-statement.ts";
import type { Pool } from "./pool.ts";
import { inTransaction, type Tx } from "./transaction.ts";

/** The change of one row: finding it, and changing it. */
export interface RowWrite<Row, Result> {
  /** Key of the change; see `TransactionOptions.key`. */
  readonly key?: string | undefined;
  /**
   * Reads the row without a lock, for rows with rarely more than one writer: the change is first tried as one
   * statement, which succeeds only for the row as it was read (see `Table.update`), and starts again under the lock
   * when another writer was faster or when it has to read.
   */
  readonly read?: (() => Promise<Row | null>) | undefined;
  /** Finds the row and locks it until the transaction ends. */
  readonly lock: (tx: Tx) => Promise<Row | null>;
  readonly change: (tx: Tx, row: Row) => Promise<Result>;
}

/** Changes one row in one transaction; returns null when it does not exist. `change` may run more than once. */
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
