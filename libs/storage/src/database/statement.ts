/** One SQL statement. A non-empty `name` makes it a prepared statement: parsed once per connection, planned from then on. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** A statement that writes a number of rows, each with as many values, and can be had for any other number. */
export interface RowsStatement extends Statement {
  /** How many values a row has. */
  readonly width: number;
  readonly count: number;
  /** The rows of a table that it changes; undefined when it inserts. */
  readonly held: HeldRows | undefined;
  ofRows(count: number): RowsStatement;
  /** The values of each row as `($1, $2), ($3, $4)`, with their parameters counted from `before` + 1 on. */
  tuples(before: number, endOf?: (row: number) => string): string;
  /** The statement over rows that come from another place than its own values. */
  over(rows: string): string;
}

/** Says which row of a table each tuple changes, and what must still be true of that row. */
export interface HeldRows {
  readonly table: string;
  /** The values of a tuple by name, those of the primary key first. */
  readonly names: readonly string[];
  /** How many of the names, from the first on, are the primary key. */
  readonly keyWidth: number;
  /** What holds of the row besides, as a condition on the table and on `given`, which has the values by these names. */
  readonly condition: string;
}

/** The rows of a result and how many rows the statement touched. */
export interface Rows<Row> {
  readonly rows: Row[];
  readonly rowCount: number;
}

/**
 * Anything a statement can be sent to: a pool, a transaction, a session. Failures arrive as `toAppError` makes them.
 * Values: `int8` is read and written as `bigint`, `numeric` and `date` stay text, every time is a `Date` in UTC,
 * `bytea` is a `Buffer`, `json` is parsed.
 */
export interface Queryable {
  query<Row = Record<string, unknown>>(statement: Statement, values?: readonly unknown[]): Promise<Rows<Row>>;
}

/** PostgreSQL cuts longer names off, and two statements could then share one. */
const nameBytesMax = 63;
/** Every count of rows is a text of its own, and each connection keeps the plans of those that are prepared. */
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
 * Declares a statement of any number of rows, which as it stands writes one: `tuple` is a row with its values as `$1` to
 * `$n`, each of a type that can be told without the table, and `textOf` says the statement around the rows, which may come
 * as `values` or as a `select`. It inserts a row for each, and returns them in their order. See `changedRows` for changes.
 */
export function sqlRows(name: string, tuple: string, textOf: (rows: string) => string): RowsStatement {
  return rowsStatement(name, tuple, textOf, undefined);
}

/** The values of rows by columns, one array for each, as `unnest` takes them. */
export function columnsOf<Row>(rows: readonly Row[], columns: readonly ((row: Row) => unknown)[]): unknown[][] {
  return columns.map((column) => rows.map(column));
}

/** Declares a statement that changes a row for each tuple: `set` is the list of an `update`, over the names of `held`. */
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
      ...{ width, count, held, ofRows, tuples, over: textOf },
    };
    if (isPrepared) known.set(count, statement);
    return statement;
  }
}

/** Whether the statement can be had for any number of rows. */
export const isOfRows = (statement: Statement): statement is RowsStatement => "ofRows" in statement;

/** The text with its parameters counted from `by` + 1 on. */
function shifted(text: string, by: number): string {
  return by === 0 ? text : text.replace(/\$(\d+)/g, (_, number) => `$${Number(number) + by}`);
}
