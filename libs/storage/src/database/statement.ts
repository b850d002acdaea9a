/** One SQL statement. A non-empty `name` makes it a prepared statement: parsed once per connection, planned from then on. */
export interface Statement {
  readonly name: string;
  readonly text: string;
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

/**
 * Declares a statement once, at module level: `const findAccount = sql("account.find", "select …")`. The name is unique
 * within a service: the driver refuses a second text under one name. Use "" for a text that is built at run time.
 */
export function sql(name: string, text: string): Statement {
  if (Buffer.byteLength(name) > nameBytesMax)
    throw new Error(`the statement name ${name} passes ${nameBytesMax} bytes`);
  return { name, text };
}
