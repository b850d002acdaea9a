import type { Clock } from "@signalbox/core";
import { inTransaction, type Pool, sql, type Tx } from "@signalbox/storage";
import { dayMs, dayOfTable, firstIdAt, startOfDay, tableOfDay, timeOfId } from "./audit-days.ts";

interface AuditDayDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly retentionDays: () => number;
}

/** Long enough for a weekend in which nothing could be made. Later entries would still be written, and moved afterwards. */
const daysAhead = 7;
/** Of entries without a table, such as those of a wrong clock, so many days are given one at a time. */
const straysMax = 32;
/** One instance at a time works on the tables. Any number that nobody else locks. */
const lockKey = 5_117_021;

const tryLock = sql("audit-days.lock", "select pg_try_advisory_xact_lock($1) as locked");

/** Writers queue behind a lock that waits. So it waits for a moment only, and the worker comes again. */
const waitBriefly = sql("audit-days.wait-briefly", "set local lock_timeout = '50ms'");

const listTables = sql(
  "audit-days.list",
  `select child.relname as name from pg_inherits
   join pg_class child on child.oid = inhrelid
   where inhparent = 'public.audit_entries'::regclass`,
);

const oldestStrayId = sql("audit-days.stray", "select min(id::text) as id from signalbox.audit_entries_default");

/** The tables of the audit, one for each day. Their names and bounds come from numbers alone, so they can stand in statements. */
export function createAuditDayTables({ pool, clock, retentionDays }: AuditDayDependencies) {
  return {
    days,

    /** Makes the tables of today and the days ahead, and drops those whose every entry is past the retention. */
    async keep(): Promise<void> {
      const nowMs = clock.nowMs();
      const known = new Set(await days());
      for (let ahead = 0; ahead <= daysAhead; ahead++) {
        const day = startOfDay(nowMs) + ahead * dayMs;
        if (!known.has(day)) await make(day);
      }
      await makeForStrays();
      const oldestMs = nowMs - retentionDays() * dayMs;
      for (const day of await days()) {
        if (day + dayMs <= oldestMs) await drop(day);
      }
    },

    make,
    drop,
  };

  /** Lists the days that have a table, by their first moment. */
  async function days(): Promise<number[]> {
    const { rows } = await pool.query<{ name: string }>(listTables);
    return rows.map(({ name }) => dayOfTable(name)).filter((day) => day !== null);
  }

  /** Makes the table of a day, and moves what was written for it before. False when another instance is at it. */
  function make(startMs: number): Promise<boolean> {
    return alone(pool, (tx) => makeTable(tx, startMs));
  }

  /** Drops the table of a day with all its entries. False when another instance is at it. */
  function drop(startMs: number): Promise<boolean> {
    return alone(pool, (tx) => run(tx, `drop table if exists signalbox.${tableOfDay(startMs)}`));
  }

  /** Gives a table to the days of entries that came before it. */
  async function makeForStrays(): Promise<void> {
    for (let count = 0; count < straysMax; count++) {
      const { rows } = await pool.query<{ id: string | null }>(oldestStrayId);
      const id = rows[0]?.id ?? null;
      if (id === null || !(await make(startOfDay(timeOfId(id))))) return;
    }
  }
}

async function alone(pool: Pool, work: (tx: Tx) => Promise<void>): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ locked: boolean }>(tryLock, [lockKey]);
    if (rows[0]?.locked !== true) return false;
    await tx.query(waitBriefly);
    await work(tx);
    return true;
  });
}

/** Attaching a table, unlike making it as a partition, lets others go on reading and writing. */
async function makeTable(tx: Tx, startMs: number): Promise<void> {
  const table = `signalbox.${tableOfDay(startMs)}`;
  const { rows } = await tx.query(sql("", `select 1 where to_regclass('${table}') is not null`));
  if (rows.length > 0) return;
  const [from, to] = [firstIdAt(startMs), firstIdAt(startMs + dayMs)];
  await run(tx, `create table ${table} (like public.audit_entries including defaults)`);
  await run(tx, "lock table signalbox.audit_entries_default in access exclusive mode");
  await run(
    tx,
    `with strays as (delete from signalbox.audit_entries_default where id >= '${from}' and id < '${to}' returning *)
     insert into ${table} select * from strays`,
  );
  await run(tx, `alter table public.audit_entries attach partition ${table} for values from ('${from}') to ('${to}')`);
}

async function run(tx: Tx, text: string): Promise<void> {
  await tx.query(sql("", text));
}
