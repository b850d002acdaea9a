import { createHash } from "node:crypto";
import { isOfRows, type Queryable, type Rows, type Statement, shifted, sql } from "./statement.ts";

/** A statement with its values, as one of several that are sent as one. */
export interface Part {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** Parts of one place in several transactions, which write as one statement what each would have written. */
interface Column {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  /** The rows that have to be touched at least, of all transactions together. */
  readonly rows: number;
}

/**
 * Sends several transactions of one shape (the same statements in the same order) as one statement, and gives the answers
 * of each. It writes all of them or nothing.
 */
export async function sendJoined(
  database: Queryable,
  transactions: readonly (readonly Part[])[],
): Promise<Rows<unknown>[][]> {
  const columns = (transactions[0] ?? []).map((_, place) => merged(transactions.map((parts) => parts[place] as Part)));
  const values = columns.flatMap((column) => column.values);
  const { rows } = await database.query<Record<string, unknown[] | null>>(joined(columns), values);
  const answers = columns.map((_, place) => rows[0]?.[nameOf(place)] ?? []);
  return transactions.map((parts, index) =>
    parts.map(({ statement, values: own }, place) => {
      const count = rowsOf(statement, own);
      const found = answers[place] as unknown[];
      const mine = transactions.length === 1 ? found : found.slice(index * count, (index + 1) * count);
      return { rows: mine, rowCount: mine.length };
    }),
  );
}

/** What two transactions must have in common to be sent as one; null when one of them can only be sent by itself. */
export function shapeOf(parts: readonly Part[]): string | null {
  if (parts.some(({ statement }) => !isOfRows(statement) || !statement.name)) return null;
  return parts.map(({ statement, values }) => `${statement.name}:${rowsOf(statement, values)}`).join("+");
}

/** Whether a joined statement was undone because one of its parts touched too few rows. */
export const isNotAllTouched = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === "22012"; // division_by_zero

const rowsOf = (statement: Statement, values: readonly unknown[]): number =>
  isOfRows(statement) ? values.length / statement.width : 1;

function merged(parts: readonly Part[]): Column {
  const { statement } = parts[0] as Part;
  const values = parts.length === 1 ? (parts[0] as Part).values : parts.flatMap((part) => part.values);
  const rows = rowsOf(statement, values);
  return { statement: isOfRows(statement) ? statement.ofRows(rows) : statement, values, rows };
}

const joinedStatements = new Map<string, Statement>();

/** One text per combination, made once: a service has a handful of them. */
function joined(columns: readonly Column[]): Statement {
  if (columns.some(({ statement }) => !statement.name)) return sql("", textOf(columns));
  const names = columns.map(({ statement }) => statement.name).join(" + ");
  const known = joinedStatements.get(names);
  if (known) return known;
  const statement = sql(`joined.${createHash("sha1").update(names).digest("base64url")}`, textOf(columns));
  joinedStatements.set(names, statement);
  return statement;
}

const nameOf = (place: number): string => `part_${place}`;

function textOf(columns: readonly Column[]): string {
  let before = 0;
  const bodies = columns.map(({ statement, values }, place) => {
    const text = shifted(statement.text, before);
    before += values.length;
    return `${nameOf(place)} as (${/\breturning\b/.test(text) ? text : `${text} returning 1`})`;
  });
  const answers = columns.map(
    (_, place) => `(select json_agg(${nameOf(place)}) from ${nameOf(place)}) as ${nameOf(place)}`,
  );
  const shares = columns.map(({ rows }, place) => `(select count(*) from ${nameOf(place)}) / ${rows}`);
  // Nothing but an error undoes a statement, and no function raises one on demand.
  return `with ${bodies.join(", ")} select ${answers.join(", ")}, 1 / least(${shares.join(", ")}) as all_touched`;
}
