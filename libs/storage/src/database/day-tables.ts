import { type Clock, hours } from "@signalbox/core";
import type { Pool } from "./pool.ts";
import { sql } from "./prepared-statement.ts";
import { inTransaction, type Tx } from "./transaction.ts";

export const dayMs = hours(24);

/** Returns the first moment of the UTC day of a time. */
export const startOfDay = (ms: number): number => Math.floor(ms / dayMs) * dayMs;

/** A time range from `fromMs` (included) to `toMs` (excluded). */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

const firstStretchDays = 7;
const growth = 4;
/** Each day of a range takes some eight locks, on its table and indexes, of the few thousand that the engine has. */
const stretchDaysMax = 56;

/**
 * Splits the days from `toMs` back to `fromMs`, newest first, into growing ranges: most readers want the newest, and a
 * statement over all days at once would lock each of them. Pass the bounds to an unnamed statement, which is planned
 * with its values.
 */
export function* stretchesBack({ fromMs, toMs }: Stretch): Generator<Stretch> {
  let end = toMs;
  for (let days = firstStretchDays; end > fromMs; days = Math.min(days * growth, stretchDaysMax)) {
    const start = Math.max(fromMs, startOfDay(end) - days * dayMs);
    yield { fromMs: start, toMs: end };
    end = start;
  }
}

/**
 * A table that is partitioned by the days (UTC) of one of its columns. `signalbox.<name>_default` holds rows that come
 * before the table of their day. Names are constants of the code and become part of statements.
 */
export interface DayTable {
  readonly name: string;
  readonly column: string;
  /** Encoding of time in the column; absent for a `timestamptz`. */
  readonly time?: DayColumn;
  /** Fill percentage of a page. Lower for rows that change later: their new versions stay on the same page. */
  readonly fillfactor?: number;
}

/** A column of another type that encodes time. */
interface DayColumn {
  /** Returns the smallest value of a moment, as a quoted SQL literal. */
  firstAt(ms: number): string;
  timeOf(value: unknown): number;
}

interface DayTableDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly keepMs: () => number;
}

/**
 * Long enough for a weekend without the worker. Later rows would still be written, to the default table, and moved
 * afterwards.
 */
const daysAhead = 7;
/**
 * Maximum number of days per run for which tables are created for rows in the default table, such as those of a wrong
 * clock.
 */
const straysMax = 32;

/** One instance at a time works on a table. Writers queue behind a waiting lock, so it waits only briefly. */
const begin = sql(
  "day-tables.begin",
  `select pg_try_advisory_xact_lock(hashtextextended('days of ' || $1, 0)) as locked,
     set_config('lock_timeout', '50ms', true)`,
);
const listTables = sql(
  "day-tables.list",
  `select child.relname as name from pg_inherits
   join pg_class child on child.oid = inhrelid join pg_class parent on parent.oid = inhparent
   where parent.relname = $1 and parent.relnamespace = 'public'::regnamespace`,
);

const timestamps: DayColumn = {
  firstAt: (ms) => new Date(ms).toISOString(),
  timeOf: (value) => (value as Date).getTime(),
};

/**
 * Creates and drops the tables of days. Their names and bounds are computed from numbers, so they are safe in
 * statements.
 */
export function createDayTables({ pool, clock, keepMs }: DayTableDependencies, tables: readonly DayTable[]) {
  /** Lists the days that have a table, by their first moment. */
  async function days({ name }: DayTable): Promise<number[]> {
    const { rows } = await pool.query<{ name: string }>(listTables, [name]);
    return rows.map((row) => dayOf(row.name)).filter((day) => day !== null);
  }

  /**
   * Creates the table of a day, and moves its rows from the default table. Returns false when another instance is at
   * work.
   */
  const make = (table: DayTable, startMs: number): Promise<boolean> =>
    alone(pool, table, (tx) => makeTable(tx, table, startMs));

  /** Drops the table of a day with all its rows. Returns false when another instance is at work. */
  const drop = (table: DayTable, startMs: number): Promise<boolean> =>
    alone(pool, table, (tx) => run(tx, `drop table if exists ${tableOfDay(table, startMs)}`));

  /** Creates tables for the days of rows in the default table. */
  async function makeForStrays(table: DayTable): Promise<void> {
    const { name, column, time = timestamps } = table;
    const oldest = sql("", `select ${column} as value from signalbox.${name}_default order by ${column} limit 1`);
    for (let count = 0; count < straysMax; count++) {
      const [stray] = (await pool.query<{ value: unknown }>(oldest)).rows;
      if (stray === undefined || !(await make(table, startOfDay(time.timeOf(stray.value))))) return;
    }
  }

  return {
    days,
    make,
    drop,

    /** Creates the tables of today and the days ahead, and drops those whose every row is past the retention. */
    async keep(): Promise<void> {
      const nowMs = clock.nowMs();
      const oldestMs = nowMs - keepMs();
      for (const table of tables) {
        const known = new Set(await days(table));
        for (let ahead = 0; ahead <= daysAhead; ahead++) {
          const startMs = startOfDay(nowMs) + ahead * dayMs;
          if (!known.has(startMs)) await make(table, startMs);
        }
        await makeForStrays(table);
        for (const startMs of await days(table)) {
          if (startMs + dayMs <= oldestMs) await drop(table, startMs);
        }
      }
    },
  };
}

/** The name of a day's table. */
export const tableOfDay = ({ name }: Pick<DayTable, "name">, startMs: number): string =>
  `signalbox.${name}_${new Date(startMs).toISOString().slice(0, 10).replaceAll("-", "")}`;

/** Returns the day of a table; null for other tables. */
function dayOf(table: string): number | null {
  const [, year, month, day] = /_([0-9]{4})([0-9]{2})([0-9]{2})$/.exec(table) ?? [];
  return year === undefined ? null : Date.parse(`${year}-${month}-${day}T00:00:00.000Z`);
}

function alone(pool: Pool, { name }: DayTable, work: (tx: Tx) => Promise<void>): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ locked: boolean }>(begin, [name]);
    if (rows[0]?.locked !== true) return false;
    await work(tx);
    return true;
  });
}

/** Attaching a table, unlike creating it as a partition, does not block readers and writers. */
async function makeTable(tx: Tx, day: DayTable, startMs: number): Promise<void> {
  const { name, column, time = timestamps, fillfactor = 100 } = day;
  const table = tableOfDay(day, startMs);
  const { rows } = await tx.query(sql("", `select 1 where to_regclass('${table}') is not null`));
  if (rows.length > 0) return;
  const [from, to] = [time.firstAt(startMs), time.firstAt(startMs + dayMs)];
  await run(tx, `create table ${table} (like public.${name} including defaults) with (fillfactor = ${fillfactor})`);
  await run(tx, `lock table signalbox.${name}_default in access exclusive mode`);
  await run(
    tx,
    `with strays as (delete from signalbox.${name}_default where ${column} >= '${from}' and ${column} < '${to}' returning *)
     insert into ${table} select * from strays`,
  );
  await run(tx, `alter table public.${name} attach partition ${table} for values from ('${from}') to ('${to}')`);
}

async function run(tx: Tx, text: string): Promise<void> {
  await tx.query(sql("", text));
}
