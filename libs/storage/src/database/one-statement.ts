import { isSerializationFailure, toAppError } from "./errors.ts";
import { isNotAllTouched, type Part } from "./joined-statement.ts";
import type { Pool } from "./pool.ts";
import type { Rows, Statement } from "./statement.ts";
import { runHooks, type Tx } from "./transaction.ts";

/** What a transaction is to hold, where each part needs no answer of another. */
export type Write = (tx: Tx) => Promise<unknown>;

/**
 * A transaction of one statement: what the writes send to their `Tx` goes to the database joined, as one round trip that
 * commits by itself. All or nothing: when any of them touches no row, nothing is written and the answer is false. So one
 * that holds its row to what was read before takes the place of a lock. They see the rows as they were before all of
 * them, each must touch different ones, and what they return has to survive JSON.
 *
 * Transactions of one shape that are asked for while others are under way share a statement and a commit, as long as
 * nothing is wrong with any of them; see `createWriteQueue`.
 */
export async function inOneStatement(pool: Pool, writes: readonly Write[]): Promise<boolean> {
  const gathered: Gathered[] = [];
  const hooks: (() => void)[] = [];
  const tx = gathering(gathered, hooks);
  const written = Promise.all(writes.map((write) => write(tx)));
  try {
    const answers = await pool.writes.add(gathered);
    gathered.forEach(({ answer }, index) => void answer.resolve(answers[index] as Rows<never>));
    await written;
  } catch (error) {
    written.catch(() => {});
    for (const { answer } of gathered) answer.reject(error);
    if (isNotAllTouched(error) || isSerializationFailure(error)) return false;
    throw toAppError(error);
  }
  runHooks(pool, hooks);
  return true;
}

interface Gathered extends Part {
  readonly answer: PromiseWithResolvers<Rows<never>>;
}

function gathering(gathered: Gathered[], hooks: (() => void)[]): Tx {
  return {
    query: <Row>(statement: Statement, values: readonly unknown[] = []) => {
      const answer = Promise.withResolvers<Rows<never>>();
      gathered.push({ statement, values, answer });
      return answer.promise as Promise<Rows<Row>>;
    },
    afterCommit: (hook) => void hooks.push(hook),
  };
}
