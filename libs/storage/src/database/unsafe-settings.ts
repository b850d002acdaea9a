import { type Queryable, sql } from "./prepared-statement.ts";

/** The risk of switching each setting off (PostgreSQL, "Write Ahead Log"). */
const losses: Readonly<Record<string, string>> = {
  fsync: "a power failure can destroy the database",
  full_page_writes: "a power failure can leave torn pages behind",
  synchronous_commit: "a crash loses changes that were acknowledged",
};

const findOff = sql("", "select name from pg_settings where name = any($1) and setting = 'off' order by name");

/** Lists the settings under which the server can lose acknowledged changes, one sentence each. */
export async function unsafeSettings(database: Queryable): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(findOff, [Object.keys(losses)]);
  return rows.map(({ name }) => `PostgreSQL runs with ${name} off: ${losses[name]}`);
}
