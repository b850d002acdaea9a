/** The values of rows by columns, as `unnest` takes them. */
export function columnsOf<Row>(rows: readonly Row[], columns: readonly ((row: Row) => unknown)[]): unknown[][] {
  return columns.map((column) => rows.map(column));
}
