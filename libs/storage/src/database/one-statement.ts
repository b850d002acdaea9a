import { isSerializationFailure, toAppError } from "./errors.ts";
import { isNotAllTouched, type Part } from "./joined-statement.ts";
import type { Pool } from "./pool.ts";
import { isOfRows, type Statement } from "./statement.ts";
import { runHooks, type Tx } from "./transaction.ts";

/** The work needs more than one statement: an answer of the database before its end, or a lock. */
class NeedsTransaction extends Error {}

/**
 * Runs `work` as a transaction of one statement: what it writes is gathered and goes to the database joined, as one round
 * trip that commits by itself. All or nothing: when any statement touches no row, or when the work reads, nothing is
 * written and the answer is null. So a statement that holds its row to what was read before takes the place of a lock.
 *
 * Every statement counts as having touched its rows until the end; what one of `sqlRows` returns is there in `afterCommit`.
 * The parts see the rows as they were before all of them, and each must touch different ones. Transactions of one shape
 * that are asked for while others are under way share a statement and a commit, as long as nothing is wrong with any of
 * them; see `createWriteQueue`.
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
      gathered.forEach(({ rows }, place) => void rows.push(...(answers[place]?.rows ?? [])));
    }
  } catch (error) {
    if (error instanceof NeedsTransaction || isNotAllTouched(error) || isSerializationFailure(error)) return null;
    throw toAppError(error);
  }
  runHooks(pool, hooks);
  return { result };
}

/** Makes work that was tried as one statement begin again in a transaction, before it does anything that must not happen twice. */
export function requireTransaction(tx: Tx): void {
  if (tx.isOneStatement) throw new NeedsTransaction();
}

interface Gathered extends Part {
  readonly rows: unknown[];
}

function gathering(gathered: Gathered[], hooks: (() => void)[]): Tx {
  return {
    isOneStatement: true,
    query: async <Row>(statement: Statement, values: readonly unknown[] = []) => {
      if (needsAnswer(statement)) throw new NeedsTransaction();
      const rows: Row[] = [];
      gathered.push({ statement, values, rows });
      return { rows, rowCount: isOfRows(statement) ? values.length / statement.width : 1 };
    },
    afterCommit: (hook) => void hooks.push(hook),
  };
}

/** A statement of `sqlRows` may return something for `afterCommit`; whoever sends another one waits for its rows. */
const needsAnswer = (statement: Statement): boolean =>
  !isOfRows(statement) && /^\s*(select|with)\b|\breturning\b/i.test(statement.text);
