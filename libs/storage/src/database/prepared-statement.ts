import type pg from "pg";

/**
 * One SQL statement. A non-empty `name` makes it a prepared statement: parsed once per connection, and planned at its
 * first use.
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** A statement that writes a number of rows of equal width, and can be rebuilt for any other number. */
export interface RowsStatement extends Statement {
  /** Number of values per row. */
  readonly width: number;
  readonly count: number;
  /** The rows that it changes; undefined for an insert. */
  readonly held: HeldRows | undefined;
  ofRows(count: number): RowsStatement;
  /** The values of each row as `($1, $2), ($3, $4)`, with parameters counted from `before` + 1 on. */
  tuples(before: number, endOf?: (row: number) => string): string;
  /** The statement over rows from another source than its own values. */
  over(rows: string): string;
}

/** The row that each tuple changes, and the condition that must still hold for it. */
interface HeldRows {
  readonly table: string;
  /** Names of a tuple's values, the primary key first. */
  readonly names: readonly string[];
  /** Number of leading names that form the primary key. */
  readonly keyWidth: number;
  /** A further condition on the row, in terms of the table and of `given`, which has the values by these names. */
  readonly condition: string;
}

/** The rows of a result and the number of rows that the statement touched. */
export interface Rows<Row> {
  readonly rows: Row[];
  readonly rowCount: number;
}

/**
 * A target of statements: a pool, a transaction, a session. Failures arrive as `toAppError` converts them. Values:
 * `int8` is read and written as `bigint`, `numeric` and `date` stay text, every time is a `Date` in UTC, `bytea` is a
 * `Buffer`, `json` is parsed.
 */
export interface Queryable {
  query<Row = Record<string, unknown>>(statement: Statement, values?: readonly unknown[]): Promise<Rows<Row>>;
}

/** PostgreSQL truncates longer names, and two statements could then share one. */
const nameBytesMax = 63;
/** Each number of rows needs a text of its own, and each connection keeps the plans of prepared ones. */
const preparedRowsMax = 32;

/**
 * Declares a statement once, at module level: `const findAccount = sql("account.find", "select …")`. The name is unique
 * within a service: the driver refuses a second text under one name. Use "" for a text that is built at run time.
 */
export function sql(name: string, text: string): Statement {
  if (Buffer.byteLength(name) > nameBytesMax)
    throw new Error(`the statement name ${name} passes ${nameBytesMax} bytes`);
  return { name, text };
}

/**
 * Declares a statement for any number of rows, which by itself writes one: `tuple` is a row with its values as `$1` to
 * `$n`, each of a type that is clear without the table, and `textOf` builds the statement around the rows, which come
 * as `values` or as a `select`. It inserts one row per tuple, and returns them in order. See `changedRows` for changes.
 */
export function sqlRows(name: string, tuple: string, textOf: (rows: string) => string): RowsStatement {
  return rowsStatement(name, tuple, textOf, undefined);
}

/** Converts rows to one array per column, as `unnest` takes them. */
export function columnsOf<Row>(rows: readonly Row[], columns: readonly ((row: Row) => unknown)[]): unknown[][] {
  return columns.map((column) => rows.map(column));
}

/** Declares a statement that changes one row per tuple: `set` is the list of an `update`, over the names of `held`. */
export function changedRows(name: string, tuple: string, held: HeldRows, set: string): RowsStatement {
  const { table, names } = held;
  const textOf = (rows: string) =>
    `update ${table} set ${set} from (${rows}) as given (${names.join(", ")}) where ${matchOf(held)}`;
  return rowsStatement(name, tuple, textOf, held);
}

/** The condition that joins `given` to the rows of its table. */
export function matchOf({ table, names, keyWidth, condition }: HeldRows): string {
  const key = names.slice(0, keyWidth).map((name) => `${table}.${name} = given.${name}`);
  return [...key, condition].join(" and ");
}

function rowsStatement(
  name: string,
  tuple: string,
  textOf: (rows: string) => string,
  held: HeldRows | undefined,
): RowsStatement {
  const width = Math.max(...Array.from(tuple.matchAll(/\$(\d+)/g), ([, number]) => Number(number)));
  const known = new Map<number, RowsStatement>();
  return ofRows(1);

  function ofRows(count: number): RowsStatement {
    const found = known.get(count);
    if (found) return found;
    const tuples: RowsStatement["tuples"] = (before, endOf) =>
      Array.from({ length: count }, (_, row) => {
        const values = shifted(tuple, before + row * width);
        return endOf ? `${values.slice(0, -1)}, ${endOf(row)})` : values;
      }).join(", ");
    const isPrepared = count <= preparedRowsMax;
    const text = textOf(`values ${tuples(0)}`);
    const statement = {
      ...sql(isPrepared ? `${name}-${count}` : "", text),
      width,
      count,
      held,
      ofRows,
      tuples,
      over: textOf,
    };
    if (isPrepared) known.set(count, statement);
    return statement;
  }
}

/** Returns true when the statement can be rebuilt for any number of rows. */
export const isOfRows = (statement: Statement): statement is RowsStatement => "ofRows" in statement;

/** Renumbers the parameters of a text to count from `by` + 1 on. */
function shifted(text: string, by: number): string {
  return by === 0 ? text : text.replace(/\$(\d+)/g, (_, number) => `$${Number(number) + by}`);
}

/** Sends one statement over `client`. Callers wrap it in `toAppError`. */
export async function send<Row>(
  client: pg.ClientBase | pg.Pool,
  statement: Statement,
  values: readonly unknown[] = [],
): Promise<Rows<Row>> {
  const result = await client.query({ name: statement.name, text: statement.text, values: values as unknown[] });
  return { rows: result.rows as Row[], rowCount: result.rowCount ?? 0 };
}
