import { sql } from "./statement.ts";
import type { Tx } from "./transaction.ts";

const lockName = sql("advisory-lock.take", "select pg_advisory_xact_lock(hashtextextended($1, 0))");
const lockNames = sql(
  "advisory-lock.take-all",
  "select count(pg_advisory_xact_lock(hashtextextended(name, 0))) from unnest($1::text[]) as given (name)",
);

/**
 * Waits until no other transaction holds the lock of this name, and holds it until this one ends. For what has no row to
 * lock, such as the number of rows that an account may have: take it before the count, in a statement before it.
 */
export async function advisoryLock(tx: Tx, name: string): Promise<void> {
  await tx.query(lockName, [name]);
}

/** The same for several names at once; in one order for everybody, so that no two wait for each other. */
export async function advisoryLocks(tx: Tx, names: Iterable<string>): Promise<void> {
  await tx.query(lockNames, [[...new Set(names)].sort()]);
}
