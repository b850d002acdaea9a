import { topics } from "@signalbox/contracts";
import type { ReceivedRecord } from "@signalbox/events";
import { createLogger } from "@signalbox/runtime";
import { openObjectStore, sql } from "@signalbox/storage";
import { readLog } from "../systems/read-log.ts";
import { openAt, searchDatabase } from "../systems/search-databases.ts";
import { formsOf } from "./plants.ts";

/** The stores of a system. */
export interface Stores {
  /** Every database of every service, and that of an embedded log. */
  readonly databases: ReadonlyMap<string, string>;
  readonly blobs: { readonly url: string; readonly accessKey: string | null; readonly secretKey: string | null };
  readonly eventsUrl: string;
}

const log = createLogger({ service: "test-e2e", instance: "search", level: "error" });

/** Finds texts, by their names, in all databases and on the log: `where: name`. */
export async function searchEverywhere(stores: Stores, texts: ReadonlyMap<string, string>): Promise<string[]> {
  const names = new Map([...texts].flatMap(([name, text]) => formsOf(text).map((form) => [form, name] as const)));
  const forms = [...names.keys()];
  const found: string[] = [];
  const note = (where: string, form: string) => found.push(`${where}: ${names.get(form)}`);
  for (const [database, url] of stores.databases) {
    for (const { table, text } of await searchDatabase(url, forms)) note(`${database} ${table}`, text);
  }
  for (const { topic, key, headers, value } of await keptRecords(stores.eventsUrl)) {
    const record = `${key} ${JSON.stringify(headers)} ${value?.toString("utf8")}`;
    for (const form of forms) if (record.includes(form)) note(topic, form);
  }
  return [...new Set(found)].sort();
}

/**
 * Reads the records that the log keeps: all of them, and on compacted topics the newest of each key until its
 * tombstone.
 */
async function keptRecords(eventsUrl: string): Promise<ReceivedRecord[]> {
  const compacted = new Set(topics.filter(({ cleanup }) => cleanup === "compact").map(({ name }) => name));
  const all = (await readLog(eventsUrl)).map((record) => {
    const { topic, partition, offset, key } = record;
    return [compacted.has(topic) ? `${topic} ${key}` : `${topic} ${partition} ${offset}`, record] as const;
  });
  return [...new Map(all).values()].filter(({ topic, value }) => value !== null || !compacted.has(topic));
}

/** Lists the keys of all blobs, which belong to this one account. */
export async function listBlobs({ blobs }: Stores): Promise<string[]> {
  const ends: (() => unknown)[] = [];
  const runner = { defer: (_name: string, end: () => unknown) => void ends.push(end) };
  const store = await openObjectStore({ ...blobs, runner, log });
  const { objects } = await store.list("", { limit: 1_000 });
  for (const end of ends) await end();
  return objects.map(({ key }) => key);
}

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
