import { type Clock, hours } from "@signalbox/core";
import { inTransaction, type Pool, sql, type Tx } from "@signalbox/storage";

interface DayTableDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly retentionMs: () => number;
}

const dayMs = hours(24);
/** Long enough for a weekend in which nothing could be made. What comes later still finds the default table. */
const daysAhead = 3;
/** One instance at a time works on the tables. Any number that nobody else locks. */
const lockKey = 5_117_031;

/** The tables that are partitioned, each with the time that its days are of. */
const parents = {
  webhook_events: "created_at",
  deliveries: "created_at",
  delivery_attempts: "started_at",
} as const;
type Parent = keyof typeof parents;

/** Writers queue behind a lock that waits. So it waits for a moment only, and the worker comes again. */
const begin = sql(
  "day-tables.begin",
  "select pg_try_advisory_xact_lock($1) as locked, set_config('lock_timeout', '50ms', true)",
);
const listTables = sql(
  "day-tables.list",
  `select parent.relname as parent, child.relname as name from pg_inherits
   join pg_class child on child.oid = inhrelid join pg_class parent on parent.oid = inhparent
   where parent.relname = any($1::text[]) and parent.relnamespace = 'public'::regnamespace`,
);
/** Held deliveries end with the retention, too: nothing in the queue may point to a day that is gone. */
const unqueue = sql(
  "",
  `delete from delivery_queue where ctid = any (array(
     select ctid from delivery_queue where created_at < $1 limit 5000))`,
);

const startOfDay = (ms: number): number => Math.floor(ms / dayMs) * dayMs;
const tableOf = (parent: Parent, startMs: number): string =>
  `signalbox.${parent}_${new Date(startMs).toISOString().slice(0, 10).replaceAll("-", "")}`;

/** The tables of events, deliveries and attempts, one for each day. Names and bounds come from numbers alone. */
export function createDayTables({ pool, clock, retentionMs }: DayTableDependencies) {
  /** Lists the days that have a table, by their first moment. */
  async function days(): Promise<Map<Parent, Set<number>>> {
    const { rows } = await pool.query<{ parent: Parent; name: string }>(listTables, [Object.keys(parents)]);
    const found = new Map<Parent, Set<number>>();
    for (const { parent, name } of rows) {
      const [, year, month, day] = /_([0-9]{4})([0-9]{2})([0-9]{2})$/.exec(name) ?? [];
      const known = found.get(parent) ?? new Set();
      if (year !== undefined) known.add(Date.parse(`${year}-${month}-${day}T00:00:00.000Z`));
      found.set(parent, known);
    }
    return found;
  }

  return {
    /** Makes the tables of today and the days ahead, and drops those whose every row is past the retention. */
    async keep(): Promise<void> {
      const nowMs = clock.nowMs();
      const known = await days();
      const oldestMs = nowMs - retentionMs();
      await pool.query(unqueue, [new Date(startOfDay(oldestMs))]);
      for (const parent of Object.keys(parents) as Parent[]) {
        const own = known.get(parent) ?? new Set();
        for (let ahead = 0; ahead <= daysAhead; ahead++) {
          const startMs = startOfDay(nowMs) + ahead * dayMs;
          if (!own.has(startMs)) await alone(pool, (tx) => make(tx, parent, startMs));
        }
        for (const startMs of own) {
          if (startMs + dayMs > oldestMs) continue;
          await alone(pool, (tx) => run(tx, `drop table if exists ${tableOf(parent, startMs)}`));
        }
        const column = parents[parent];
        const expired = `delete from signalbox.${parent}_default where ctid = any (array(
          select ctid from signalbox.${parent}_default where ${column} < $1 limit 5000))`;
        await pool.query(sql("", expired), [new Date(startOfDay(oldestMs))]);
      }
    },
  };
}

/** Runs the work unless another instance is at it. */
function alone(pool: Pool, work: (tx: Tx) => Promise<void>): Promise<void> {
  return inTransaction(pool, async (tx) => {
    const [first] = (await tx.query<{ locked: boolean }>(begin, [lockKey])).rows;
    if (first?.locked) await work(tx);
  });
}

/** Attaching a table, unlike making it as a partition, lets others go on reading and writing. */
async function make(tx: Tx, parent: Parent, startMs: number): Promise<void> {
  const table = tableOf(parent, startMs);
  const column = parents[parent];
  const { rows } = await tx.query(sql("", `select 1 where to_regclass('${table}') is not null`));
  if (rows.length > 0) return;
  const [from, to] = [startMs, startMs + dayMs].map((ms) => new Date(ms).toISOString());
  // Room on the pages: what is written to a delivery later stays beside it.
  await run(tx, `create table ${table} (like public.${parent} including defaults) with (fillfactor = 80)`);
  await run(tx, `lock table signalbox.${parent}_default in access exclusive mode`);
  await run(
    tx,
    `with strays as (delete from signalbox.${parent}_default where ${column} >= '${from}' and ${column} < '${to}' returning *)
     insert into ${table} select * from strays`,
  );
  await run(tx, `alter table public.${parent} attach partition ${table} for values from ('${from}') to ('${to}')`);
}

async function run(tx: Tx, text: string): Promise<void> {
  await tx.query(sql("", text));
}
export type DayTables = ReturnType<typeof createDayTables>;
