import { type Clock, minutes } from "@signalbox/core";
import { columnsOf, dayMs, inTransaction, type Pool, type Statement, sql, type Tx } from "@signalbox/storage";
import {
  addToTable,
  columnsOfTable,
  createFigureReader,
  type FigureColumns,
  type FigureTable,
  type StoredFigures,
  tableStored,
} from "./figures.ts";
import { type FreshFigures, readBatch } from "./fresh-figures.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly clock: Clock;
  /**
   * Selects the `id` of those of the subjects `$1` that still exist. The figures of the others count for their accounts
   * alone. Absent where accounts are the only subjects.
   */
  readonly livingSubjects?: Statement | undefined;
}

/** Lengths of the periods that have rows, in minutes: each kind of row is rolled up to the next. */
export const periodMinutes = [1, 15, 60, 1_440] as const;
export type PeriodMinutes = (typeof periodMinutes)[number];

/** A time from `fromMs` (included) to `toMs` (excluded), in rows of one length. */
export interface StatisticsRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly period: PeriodMinutes;
}

/** Time for which figures can be asked for. */
export const statisticsMs = 30 * dayMs;
/** Time after the end of a period in which figures still come; those that come later are added one by one. */
const graceMs = minutes(1);
const none = { rows: [] };
/** Batches and rows of one transaction. */
const batchesMax = 100;
const rolledMax = 500;
const removedMax = 5_000;

/** One transaction at a time changes rows; writers of figures only insert, and wait for nobody. */
const tryLock = sql(
  "statistics.try-lock",
  "select pg_try_advisory_xact_lock(hashtextextended('statistics', 0)) as held",
);
const lock = sql("statistics.lock", "select pg_advisory_xact_lock(hashtextextended('statistics', 0))");

const takeFresh = sql(
  "statistics.take-fresh",
  `delete from signalbox.fresh_statistics where ctid = any (array(select ctid from signalbox.fresh_statistics limit ${batchesMax}))
   returning batch, counted`,
);
const findRows = sql(
  "statistics.find-rows",
  `select s.subject_id as "subjectId", s.at, s.labels, s.figures, s.rolled from signalbox.statistics as s
   join unnest($2::text[], $3::timestamptz[]) as given (subject_id, at) using (subject_id, at) where s.period = $1`,
);
const writeRows = sql(
  "statistics.write-rows",
  `insert into signalbox.statistics (period, subject_id, at, labels, figures, rolled)
   select $1, subject_id, at, labels, figures, $6
   from unnest($2::text[], $3::timestamptz[], $4::text[], $5::bytea[]) as given (subject_id, at, labels, figures)
   on conflict (subject_id, period, at) do update set labels = excluded.labels, figures = excluded.figures`,
);
const rollRows = sql(
  "statistics.roll-rows",
  `update signalbox.statistics as s set rolled = true from (
     select subject_id, at from signalbox.statistics where not rolled and period = $1 and at < $2 limit ${rolledMax}) as ended
   where s.subject_id = ended.subject_id and s.period = $1 and s.at = ended.at
   returning s.subject_id as "subjectId", s.at, s.labels, s.figures`,
);
/**
 * One statement sees one moment: what is being rolled up is found in one place. A batch is looked at when it names the
 * subject or account.
 */
const readRows = sql(
  "statistics.read",
  `select at, labels, figures, null as batch, null::int[] as counted from signalbox.statistics
   where subject_id = $1 and period = $2 and at >= $3 and at < $4
   union all
   select at, labels, figures, null, null from signalbox.statistics
   where subject_id = $1 and period < $2 and not rolled and at >= $3 and at < $4
   union all
   select null, null, null, batch, counted from signalbox.fresh_statistics where strpos(batch, $1) > 0`,
);
const removeRows = sql(
  "statistics.remove",
  `delete from signalbox.statistics where ctid = any (array(select ctid from signalbox.statistics where subject_id = $1 limit ${removedMax}))`,
);

/** Figures as they were read, with the start of their period. */
export interface PeriodFigures {
  readonly atMs: number;
  readonly figures: readonly StoredFigures[];
}

/** The figures of a subject or an account in one period. */
interface Row {
  readonly subjectId: string;
  readonly at: Date;
  readonly table: FigureTable;
}

export type Statistics = ReturnType<typeof createStatistics>;

/**
 * Creates the statistics of a service's subjects, such as endpoints, and of their accounts. Writers insert rows into
 * `signalbox.fresh_statistics`, with `freshBatch`, in the transaction of what they count. A worker folds them into rows by minute, and rolls those up
 * to quarters of an hour, hours and days. A figure is in one place at any moment, and moves in one transaction, so that
 * none is lost or counted twice by a process that is killed.
 */
export function createStatistics({ pool, clock, livingSubjects }: Dependencies) {
  /** Folds fresh figures into the rows of their minutes. Returns true while there may be more. */
  async function fold(tx: Tx): Promise<boolean> {
    const { rows } = await tx.query<FreshRow>(takeFresh);
    if (rows.length === 0) return false;
    const fresh = rows.flatMap(({ batch, counted }) => readBatch(batch, counted));
    const subjects = new Set(fresh.map(({ subjectId }) => subjectId).filter((id) => id !== null));
    const { rows: found } = livingSubjects ? await tx.query<{ id: string }>(livingSubjects, [[...subjects]]) : none;
    const living = new Set(found.map(({ id }) => id));
    const ids = ({ accountId, subjectId }: FreshFigures) =>
      subjectId !== null && living.has(subjectId) ? [accountId, subjectId] : [accountId];
    const folded = fresh.flatMap((one) =>
      ids(one).map((subjectId) => ({ subjectId, at: new Date(one.atMs), figures: [one.figures] })),
    );
    await addRows(tx, 0, tablesOf(0, folded));
    return rows.length === batchesMax;
  }

  /** Adds the rows of ended periods to the next longer ones. Returns true while there may be more. */
  async function roll(tx: Tx): Promise<boolean> {
    let isMore = false;
    for (const [level, period] of periodMinutes.slice(0, -1).entries()) {
      const before = new Date(clock.nowMs() - graceMs - minutes(period));
      const { rows } = await tx.query<StoredRow>(rollRows, [period, before]);
      await addRows(tx, level + 1, tablesOf(level + 1, readAll(rows)));
      isMore ||= rows.length === rolledMax;
    }
    return isMore;
  }

  return {
    /** Folds and rolls up some rows; returns "again" while there may be more. */
    step: (): Promise<"again" | "done"> =>
      inTransaction(pool, async (tx) => {
        const { rows } = await tx.query<{ held: boolean }>(tryLock);
        if (rows[0]?.held !== true) return "done";
        const [isMoreFresh, isMoreEnded] = [await fold(tx), await roll(tx)];
        return isMoreFresh || isMoreEnded ? "again" : "done";
      }),

    /** Reads the figures of a subject, or of an account, by the start of the period that they were found in. */
    async read(id: string, { fromMs, toMs, period }: StatisticsRange): Promise<PeriodFigures[]> {
      const { rows } = await pool.query<FoundRow>(readRows, [id, period, new Date(fromMs), new Date(toMs)]);
      const figuresOf = createFigureReader();
      return rows.flatMap((row): PeriodFigures[] => {
        if (row.batch === null) return [{ atMs: row.at.getTime(), figures: figuresOf(row) }];
        return readBatch(row.batch, row.counted)
          .filter(({ accountId, subjectId }) => accountId === id || subjectId === id)
          .filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
          .map(({ atMs, figures }) => ({ atMs, figures: [figures] }));
      });
    },

    /**
     * Removes some rows of a deleted subject or a purged account, once no more is counted for it; returns "again" while
     * there may be more. What is not folded yet is folded first, or it would bring rows back.
     */
    remove: (id: string): Promise<"again" | "done"> =>
      inTransaction(pool, async (tx) => {
        await tx.query(lock);
        while (await fold(tx));
        return (await tx.query(removeRows, [id])).rowCount === 0 ? "done" : "again";
      }),
  };
}

interface StoredRow extends FigureColumns {
  readonly subjectId: string;
  readonly at: Date;
}

interface FreshRow {
  readonly batch: string;
  readonly counted: readonly number[] | null;
}

type FoundRow = (FreshRow & { readonly at: null }) | (FigureColumns & { readonly at: Date; readonly batch: null });

interface ParsedRow {
  readonly subjectId: string;
  readonly at: Date;
  readonly figures: readonly StoredFigures[];
}

function readAll(rows: readonly StoredRow[]): ParsedRow[] {
  const figuresOf = createFigureReader();
  return rows.map(({ subjectId, at, ...columns }) => ({ subjectId, at, figures: figuresOf(columns) }));
}

const keyOf = ({ subjectId, at }: Pick<Row, "subjectId" | "at">): string => `${at.getTime()} ${subjectId}`;

/** Sums up rows by the periods of a level. */
function tablesOf(level: number, rows: readonly ParsedRow[]): Map<string, Row> {
  const lengthMs = minutes(periodMinutes[level] ?? 0);
  const tables = new Map<string, Row>();
  for (const { subjectId, at, figures } of rows) {
    const start = new Date(Math.floor(at.getTime() / lengthMs) * lengthMs);
    const key = keyOf({ subjectId, at: start });
    const row = tables.get(key) ?? { subjectId, at: start, table: new Map() };
    addToTable(row.table, figures);
    tables.set(key, row);
  }
  return tables;
}

/** Adds figures to the rows of a level, and to the longer periods of those that are rolled up already. */
async function addRows(tx: Tx, level: number, added: ReadonlyMap<string, Row>): Promise<void> {
  const rows = [...added.values()];
  if (rows.length === 0) return;
  const period = periodMinutes[level];
  const keys = columnsOf(rows, [({ subjectId }) => subjectId, ({ at }) => at]);
  const late: ParsedRow[] = [];
  const sums = new Map<string, FigureTable>();
  const figuresOf = createFigureReader();
  for (const known of (await tx.query<StoredRow & { rolled: boolean }>(findRows, [period, ...keys])).rows) {
    const { table } = added.get(keyOf(known)) as Row;
    if (known.rolled) late.push({ subjectId: known.subjectId, at: known.at, figures: tableStored(table) });
    const sum: FigureTable = new Map();
    addToTable(sum, figuresOf(known));
    addToTable(sum, tableStored(table));
    sums.set(keyOf(known), sum);
  }
  const written = rows.map((row) => columnsOfTable(sums.get(keyOf(row)) ?? row.table));
  const isLast = level === periodMinutes.length - 1;
  await tx.query(writeRows, [
    period,
    ...keys,
    ...columnsOf(written, [({ labels }) => labels, ({ figures }) => figures]),
    isLast,
  ]);
  if (!isLast) await addRows(tx, level + 1, tablesOf(level + 1, late));
}
