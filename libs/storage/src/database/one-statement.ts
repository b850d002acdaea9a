import { createHash } from "node:crypto";
import { toAppError } from "./errors.ts";
import type { Pool } from "./pool.ts";
import { type Rows, type Statement, sql } from "./statement.ts";
import { runHooks, type Tx } from "./transaction.ts";

interface Part {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  readonly answer: PromiseWithResolvers<Rows<never>>;
}

/** What a transaction is to hold, where each part needs no answer of another. */
export type Write = (tx: Tx) => Promise<unknown>;

/**
 * A transaction of one statement: what the writes send to their `Tx` goes to the database joined, as one round trip that
 * commits by itself. All or nothing: when any of them touches no row, nothing is written and the answer is false. So one
 * that holds its row to what was read before takes the place of a lock. They see the rows as they were before all of
 * them, each must touch different ones, and what they return has to survive JSON.
 */
export async function inOneStatement(pool: Pool, writes: readonly Write[]): Promise<boolean> {
  const parts: Part[] = [];
  const hooks: (() => void)[] = [];
  const tx = gathering(parts, hooks);
  const written = Promise.all(writes.map((write) => write(tx)));
  try {
    const answers = await send(pool, parts);
    parts.forEach(({ answer }, index) => void answer.resolve(answers[index] as Rows<never>));
    await written;
  } catch (error) {
    written.catch(() => {});
    for (const { answer } of parts) answer.reject(error);
    if (isMissed(error)) return false;
    throw toAppError(error);
  }
  runHooks(pool, hooks);
  return true;
}

function gathering(parts: Part[], hooks: (() => void)[]): Tx {
  return {
    query: <Row>(statement: Statement, values: readonly unknown[] = []) => {
      const answer = Promise.withResolvers<Rows<never>>();
      parts.push({ statement, values, answer });
      return answer.promise as Promise<Rows<Row>>;
    },
    afterCommit: (hook) => void hooks.push(hook),
  };
}

async function send(pool: Pool, parts: readonly Part[]): Promise<Rows<unknown>[]> {
  const values = parts.flatMap((part) => part.values);
  const { rows } = await pool.query<Record<string, unknown[]>>(joined(parts), values);
  return parts.map((_part, index) => {
    const own = rows[0]?.[nameOf(index)] ?? [];
    return { rows: own, rowCount: own.length };
  });
}

const joinedStatements = new Map<string, Statement>();

/** One text per combination, made once: a service has a handful of them. */
function joined(parts: readonly Part[]): Statement {
  const names = parts.map(({ statement }) => statement.name).join(" + ");
  const known = joinedStatements.get(names);
  if (known) return known;
  const statement = sql(`joined.${createHash("sha1").update(names).digest("base64url")}`, textOf(parts));
  joinedStatements.set(names, statement);
  return statement;
}

const nameOf = (index: number): string => `part_${index}`;

function textOf(parts: readonly Part[]): string {
  let before = 0;
  const bodies = parts.map(({ statement, values }, index) => {
    const text = statement.text.replace(/\$(\d+)/g, (_, number) => `$${Number(number) + before}`);
    before += values.length;
    return `${nameOf(index)} as (${/\breturning\b/.test(text) ? text : `${text} returning 1`})`;
  });
  const rows = parts.map((_, index) => `(select json_agg(${nameOf(index)}) from ${nameOf(index)}) as ${nameOf(index)}`);
  const counts = parts.map((_, index) => `(select count(*) from ${nameOf(index)})`);
  // Nothing but an error undoes a statement, and no function raises one on demand.
  return `with ${bodies.join(", ")} select ${rows.join(", ")}, 1 / least(${counts.join(", ")}) as all_touched`;
}

/** division_by_zero: the fewest rows that a part touched were none. */
const isMissed = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === "22012";
