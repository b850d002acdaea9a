import { sql } from "@signalbox/storage";
import { openAt } from "../systems/search-databases.ts";

/** Longer than every retention: the objection window, the log, the dead letters. */
const days = 40;

const listTimes = sql(
  "",
  `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name,
     array_agg(quote_ident(column_name) order by column_name) as columns
   from information_schema.columns join information_schema.tables using (table_schema, table_name)
   where data_type = 'timestamp with time zone' and table_type = 'BASE TABLE'
     and table_schema not in ('pg_catalog', 'information_schema')
     and not (quote_ident(table_schema) || '.' || quote_ident(table_name))::regclass::oid
       in (select oid from pg_class where relispartition)
   group by 1`,
);
const hasLog = sql("", "select to_regclass('signalbox.log_record') is not null as has");
const ageLog = sql("", `update signalbox.log_record set timestamp_ms = timestamp_ms - ${days * 86_400_000}`);

/** Ages everything in a database, including the records of a log in it. */
export async function ageDatabase(url: string): Promise<void> {
  const pool = openAt(url);
  const { rows } = await pool.query<{ name: string; columns: string[] }>(listTimes);
  for (const { name, columns } of rows) {
    const older = columns.map((column) => `${column} = ${column} - interval '${days} days'`);
    await pool.query(sql("", `update ${name} set ${older.join(", ")}`));
  }
  if ((await pool.query<{ has: boolean }>(hasLog)).rows[0]?.has) await pool.query(ageLog);
  await pool.close();
}
