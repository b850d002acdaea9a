import type pg from "pg";
import type { Rows, Statement } from "./prepared-statement.ts";

/** Sends one statement over `client`. Callers wrap it in `toAppError`. */
export async function send<Row>(
  client: pg.ClientBase | pg.Pool,
  statement: Statement,
  values: readonly unknown[] = [],
): Promise<Rows<Row>> {
  const result = await client.query({ name: statement.name, text: statement.text, values: values as unknown[] });
  return { rows: result.rows as Row[], rowCount: result.rowCount ?? 0 };
}
