import { createLogger, createMetrics } from "@signalbox/runtime";
import { openPool, sql } from "@signalbox/storage";

const listDatabases = sql("", "select datname as name from pg_database where not datistemplate order by 1");
const listTables = sql(
  "",
  `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
   where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
);

/**
 * Finds the tables of all databases of a server that contain any of the texts, in any column, as `database
 * schema.table: text`. `serverUrl` may name any database of the server.
 */
export async function searchDatabases(serverUrl: string, texts: readonly string[]): Promise<string[]> {
  const databases = await namesIn(serverUrl, listDatabases);
  const found: string[] = [];
  for (const database of databases) {
    const url = new URL(serverUrl);
    url.pathname = `/${database}`;
    for (const { table, text } of await searchDatabase(url.href, texts)) found.push(`${database} ${table}: ${text}`);
  }
  return found;
}

/** Finds the tables of one database that contain any of the texts. */
export async function searchDatabase(
  url: string,
  texts: readonly string[],
): Promise<{ table: string; text: string }[]> {
  const pool = openAt(url);
  const found: { table: string; text: string }[] = [];
  for (const { name } of (await pool.query<{ name: string }>(listTables)).rows) {
    // A row as text shows bytes as hexadecimal digits.
    const search = sql(
      "",
      `select distinct given.text from ${name} as row_of join unnest($1::text[]) as given (text)
         on position(given.text in row_of::text) > 0
         or position(encode(convert_to(given.text, 'utf8'), 'hex') in row_of::text) > 0`,
    );
    const { rows } = await pool.query<{ text: string }>(search, [texts]);
    for (const { text } of rows) found.push({ table: name, text });
  }
  await pool.close();
  return found;
}

async function namesIn(url: string, statement: typeof listDatabases): Promise<string[]> {
  const pool = openAt(url);
  const { rows } = await pool.query<{ name: string }>(statement);
  await pool.close();
  return rows.map(({ name }) => name);
}

/** Opens a connection that belongs to no service, to read a database from outside. */
export const openAt = (url: string) =>
  openPool({
    url,
    max: 1,
    applicationName: "search",
    log: createLogger({ service: "test-e2e", instance: "search", level: "error" }),
    metrics: createMetrics({ service: "test-e2e" }),
    runner: { defer: () => {} },
  });
