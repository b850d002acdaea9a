import { createHash } from "node:crypto";
import { matchOf, type Queryable, type Rows, type RowsStatement, type Statement, sql } from "./prepared-statement.ts";

/** A statement with its values, one part of a combined statement. */
export interface Part {
  readonly statement: RowsStatement;
  readonly values: readonly unknown[];
}

/** The outcome of a transaction: its answers, or the reason why nothing was written. */
export type Outcome =
  | { readonly written: Rows<unknown>[] }
  /**
   * `held`: its own rows were free, but another transaction's were not. `changed`: its rows differ from what was read,
   * or are locked.
   */
  | { readonly unwritten: "held" | "changed" };

/** The rows that each part returned, and the numbers of the tuples of each part whose rows were free. */
type Answer = Readonly<Record<string, unknown>>;

/** The parts at one position of several transactions, which write as one statement. */
interface Column {
  readonly statement: RowsStatement;
  readonly values: readonly unknown[];
}

/**
 * Sends several transactions of one shape (the same statements in the same order) as one statement, and returns the
 * outcome of each. It locks the rows to change first, waits for none, and writes all transactions or nothing. No two of
 * them may change the same row.
 */
export async function sendCombined(
  database: Queryable,
  transactions: readonly (readonly Part[])[],
): Promise<readonly Outcome[]> {
  const columns = (transactions[0] ?? []).map((_, place) => merged(transactions.map((parts) => parts[place] as Part)));
  const values = columns.flatMap((column) => column.values);
  const { rows } = await database.query<Answer & { readonly all_held: boolean }>(combined(columns), values);
  const { all_held, ...answer } = rows[0] ?? { all_held: false };
  if (all_held) return transactions.map((parts, index) => ({ written: answersOf(parts, index, answer) }));
  const isHeld = heldOf(columns, answer, transactions.length);
  // All rows were free, but two tuples change the same row.
  const isTwice = !isHeld.includes(false);
  return isHeld.map((held) => ({ unwritten: held && !isTwice ? "held" : "changed" }));
}

/** Returns the shape that transactions must share to be combined; null for one that can only be sent alone. */
export function shapeOf(parts: readonly Part[]): string | null {
  if (parts.some(({ statement }) => !statement.name)) return null;
  return parts.map(({ statement }) => statement.name).join("+");
}

/** The rows that the parts change, by table and primary key. */
export function changedKeys(parts: readonly Part[]): string[] {
  return parts.flatMap(({ statement: { held, width, count }, values }) => {
    if (!held) return [];
    const keyOf = (row: number) => values.slice(row * width, row * width + held.keyWidth);
    return Array.from({ length: count }, (_, row) => JSON.stringify([held.table, ...keyOf(row)]));
  });
}

function merged(parts: readonly Part[]): Column {
  const [first] = parts as [Part];
  if (parts.length === 1) return first;
  return {
    statement: first.statement.ofRows(parts.length * first.statement.count),
    values: parts.flatMap((part) => part.values),
  };
}

/** Returns for each transaction whether all rows that it changes were free. */
function heldOf(columns: readonly Column[], answer: Answer, transactions: number): boolean[] {
  const isHeld = new Array<boolean>(transactions).fill(true);
  columns.forEach(({ statement: { held, count } }, place) => {
    if (!held) return;
    const found = new Set((answer[heldName(place)] ?? []) as number[]);
    for (let row = 0; row < count; row++) {
      if (!found.has(row)) isHeld[Math.floor((row * transactions) / count)] = false;
    }
  });
  return isHeld;
}

function answersOf(parts: readonly Part[], index: number, answer: Answer): Rows<unknown>[] {
  return parts.map(({ statement: { count } }, place) => {
    const rows = ((answer[partName(place)] ?? []) as unknown[]).slice(index * count, (index + 1) * count);
    return { rows, rowCount: rows.length };
  });
}

const combinedStatements = new Map<string, Statement>();

/** One text per combination, built once: a service has few of them. */
function combined(columns: readonly Column[]): Statement {
  if (columns.some(({ statement }) => !statement.name)) return sql("", textOf(columns));
  const names = columns.map(({ statement }) => statement.name).join(" + ");
  const known = combinedStatements.get(names);
  if (known) return known;
  const statement = sql(`combined.${createHash("sha1").update(names).digest("base64url")}`, textOf(columns));
  combinedStatements.set(names, statement);
  return statement;
}

const partName = (place: number): string => `part_${place}`;
const heldName = (place: number): string => `held_${place}`;

/**
 * First the locks, then the check that all rows are locked, then the parts, which affect no row otherwise. So nothing
 * is ever rolled back, and PostgreSQL logs no error.
 */
function textOf(columns: readonly Column[]): string {
  const locks: string[] = [];
  const conditions: string[] = [];
  const sources: string[] = [];
  let before = 0;
  columns.forEach(({ statement, values }, place) => {
    const { held, count } = statement;
    const name = heldName(place);
    if (held) {
      const given = `(values ${statement.tuples(before, String)}) as given (${held.names.join(", ")}, nth)`;
      locks.push(`${name} as (select given.*, ${held.table}.ctid as place from ${held.table}, ${given}
        where ${matchOf(held)} for update of ${held.table.split(".").at(-1)} skip locked)`);
      conditions.push(`(select count(distinct place) from ${name}) = ${count}`);
      sources.push(`select * from ${name}`);
    } else sources.push(`select * from (values ${statement.tuples(before)}) as given`);
    before += values.length;
  });
  const all = `all_held as (select ${["true", ...conditions].join(" and ")} as yes)`;
  const guard = " where (select yes from all_held)";
  const bodies = columns.map(({ statement }, place) => {
    const text = statement.over(`${sources[place]}${guard}`);
    return `${partName(place)} as (${/\breturning\b/.test(text) ? text : `${text} returning 1`})`;
  });
  const answers = columns.flatMap(({ statement: { held } }, place) => [
    `(select json_agg(${partName(place)}) from ${partName(place)}) as ${partName(place)}`,
    ...(held ? [`(select json_agg(nth) from ${heldName(place)}) as ${heldName(place)}`] : []),
  ]);
  return `with ${[...locks, all, ...bodies].join(", ")} select ${answers.join(", ")}, (select yes from all_held) as all_held`;
}
