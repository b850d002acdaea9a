import type { Part } from "./combined-statement.ts";
import { isSerializationFailure, outcomeUnknown, toAppError } from "./errors.ts";
import type { Pool } from "./pool.ts";
import { isOfRows, type Queryable, type Statement } from "./prepared-statement.ts";
import { isAnswerLost } from "./resolve-in-doubt-commit.ts";
import { repeatCollisions, runHooks, type Tx } from "./transaction.ts";

/** The work needs more than one statement: an early answer of the database, a lock, or another kind of write. */
class NeedsTransaction extends Error {}

/**
 * Runs `work` as a transaction of one statement: its writes are collected and sent combined, in one round trip that
 * commits by itself. All or nothing: nothing is written and the result is null when a row to change differs from what
 * was read, when another transaction has locked it, or when the work needs more than inserts and changes of rows
 * (`sqlRows`, `changedRows`). It never waits for a row.
 * Every statement counts as having touched its rows until the end; rows returned by `sqlRows` are available in
 * `afterCommit`. The parts see the rows as they were before all of them, and each must touch different ones.
 * Transactions of one shape that arrive while others are pending share a statement and a commit; see
 * `createWriteQueue`.
 */
export async function inOneStatement<T>(
  pool: Pool,
  work: (tx: Tx) => Promise<T>,
): Promise<{ readonly result: T } | null> {
  const gathered: Gathered[] = [];
  const hooks: (() => void)[] = [];
  let result: T;
  try {
    result = await work(gathering(gathered, hooks));
    if (gathered.length > 0) {
      const answers = await pool.writes.add(gathered);
      if (answers === null) return null;
      gathered.forEach(({ rows }, place) => void rows.push(...(answers[place]?.rows ?? [])));
    }
  } catch (error) {
    if (error instanceof NeedsTransaction || isSerializationFailure(error)) return null;
    throw isAnswerLost(error) ? outcomeUnknown(error) : toAppError(error);
  }
  runHooks(pool, hooks);
  return { result };
}

/**
 * Makes work that was tried as one statement start again in a transaction, before it does anything that must not happen
 * twice.
 */
export function requireTransaction(tx: Tx): void {
  if (tx.isOneStatement) throw new NeedsTransaction();
}

/**
 * Returns a target for one statement that changes rows and commits by itself, in one round trip. Losing against a
 * concurrent transaction repeats it.
 * @throws AppError `unavailable` with the outcome `unknown` when the connection breaks before the answer
 */
export function committingAtOnce(pool: Queryable): Queryable {
  return {
    query: <Row>(statement: Statement, values?: readonly unknown[]) =>
      repeatCollisions(() => pool.query<Row>(statement, values)).catch((error: unknown) => {
        throw isAnswerLost(error) ? outcomeUnknown(error) : error;
      }),
  };
}

interface Gathered extends Part {
  readonly rows: unknown[];
}

function gathering(gathered: Gathered[], hooks: (() => void)[]): Tx {
  return {
    isOneStatement: true,
    query: async <Row>(statement: Statement, values: readonly unknown[] = []) => {
      if (!isOfRows(statement)) throw new NeedsTransaction();
      const rows: Row[] = [];
      gathered.push({ statement, values, rows });
      return { rows, rowCount: statement.count };
    },
    afterCommit: (hook) => void hooks.push(hook),
  };
}
