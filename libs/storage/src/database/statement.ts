/** One SQL statement. A non-empty `name` makes it a prepared statement: parsed once per connection, planned from then on. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** A statement that writes a number of rows, each with as many values, and can be had for any other number. */
export interface RowsStatement extends Statement {
  /** How many values a row has. */
  readonly width: number;
  ofRows(count: number): RowsStatement;
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
 * `$n`, and `textOf` says the statement around the tuples. It touches one row for each, and returns them in their order.
 */
export function sqlRows(name: string, tuple: string, textOf: (tuples: string) => string): RowsStatement {
  const width = Math.max(...Array.from(tuple.matchAll(/\$(\d+)/g), ([, number]) => Number(number)));
  const known = new Map<number, RowsStatement>();
  return ofRows(1);

  function ofRows(count: number): RowsStatement {
    const found = known.get(count);
    if (found) return found;
    const tuples = Array.from({ length: count }, (_, row) => shifted(tuple, row * width)).join(", ");
    const isPrepared = count <= preparedRowsMax;
    const statement = { ...sql(isPrepared ? `${name}-${count}` : "", textOf(tuples)), width, ofRows };
    if (isPrepared) known.set(count, statement);
    return statement;
  }
}

/** Whether the statement can be had for any number of rows. */
export const isOfRows = (statement: Statement): statement is RowsStatement => "ofRows" in statement;

/** The text with its parameters counted from `by` + 1 on. */
export function shifted(text: string, by: number): string {
  return by === 0 ? text : text.replace(/\$(\d+)/g, (_, number) => `$${Number(number) + by}`);
}
