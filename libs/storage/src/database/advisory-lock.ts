import { sql } from "./prepared-statement.ts";
import type { Tx } from "./transaction.ts";

const lockName = sql("advisory-lock.take", "select pg_advisory_xact_lock(hashtextextended($1, 0))");
const lockNames = sql(
  "advisory-lock.take-all",
  "select count(pg_advisory_xact_lock(hashtextextended(name, 0))) from unnest($1::text[]) as given (name)",
);

/**
 * Acquires the lock of this name, waiting for other transactions, and holds it until the transaction ends. It guards
 * what has no row to lock, such as the number of rows of an account: take it before the count, in an earlier statement.
 */
export async function advisoryLock(tx: Tx, name: string): Promise<void> {
  await tx.query(lockName, [name]);
}

/** Acquires several named locks, always in the same order, which avoids deadlocks. */
export async function advisoryLocks(tx: Tx, names: Iterable<string>): Promise<void> {
  await tx.query(lockNames, [[...new Set(names)].sort()]);
}
