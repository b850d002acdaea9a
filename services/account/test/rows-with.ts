import { type Pool, sql } from "@signalbox/storage";

const listTables = sql("test.tables", "select tablename from pg_tables where schemaname = 'public' order by tablename");

/** Lists the rows of the account service's own tables that contain `word` in any column. Bytes are compared as hex. */
export async function rowsWith(pool: Pool, word: string): Promise<string[]> {
  const tables = (await pool.query<{ tablename: string }>(listTables)).rows;
  const found: string[] = [];
  for (const { tablename } of tables) {
    const text = `select row_to_json(t)::text as row from "${tablename}" t where row_to_json(t)::text like '%' || $1 || '%'`;
    const { rows } = await pool.query<{ row: string }>(sql("", text), [word]);
    found.push(...rows.map(({ row }) => `${tablename} ${row}`));
  }
  return found;
}
