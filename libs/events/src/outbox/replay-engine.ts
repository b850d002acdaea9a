import type { EventDraft } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import {
  inTransaction,
  type ListRange,
  newestFirst,
  ofEachParent,
  type Pool,
  type Queryable,
  rangeValues,
  type Statement,
  sql,
  type Tx,
  table,
} from "@signalbox/storage";
import type { Outbox } from "./outbox.ts";

/** The columns that every replay has; its service adds the choice, the position and the counts. */
// Not an interface: `table` takes rows as records.
export type ReplayRow = {
  readonly id: string;
  readonly accountId: string;
  readonly status: string;
  /** Names of events, or prefixes that end in `*`; empty for all. */
  readonly eventTypes: readonly string[];
  /** Items per second; null for no limit. */
  readonly rate: number | null;
  /** Number of matching items at its start. */
  readonly total: number;
  readonly createdAt: Date;
};
const common = {
  id: "text",
  accountId: "text",
  status: "text",
  eventTypes: "text[]",
  rate: "int4",
  total: "int4",
  createdAt: "timestamptz",
  // By the clock of the database, which is the same for all instances.
  dueAt: "interval + statement_timestamp()",
};

/** The replays of one service. Names become part of statements. */
export interface ReplayKind<Row extends ReplayRow> {
  readonly table: string;
  /** The further columns, each with its PostgreSQL type. */
  readonly columns: Readonly<Record<Exclude<keyof Row & string, keyof ReplayRow>, string>>;
  /** The columns that a step or the end changes, beside the status. */
  readonly progress: readonly Exclude<keyof Row & string, keyof ReplayRow>[];
  /** Column of the parent in whose list a replay is. */
  readonly listedBy: string;
  /** Column of the thing that has at most `runningMax` running replays; null is the whole account. */
  readonly parent: string;
  readonly runningMax: number;
  /** Delay that a late step makes up for, so that it never catches up on everything at once. */
  readonly lateMsMax: number;
  readonly ended: (status: "done" | "cancelled", at: Date) => Partial<Row>;
}

/** The replay after a step of `count` items, or the time until the next attempt at one. */
export type ReplayStep<Row> =
  | { readonly replay: Row; readonly count: number; readonly isLast: boolean }
  | { readonly waitMs: number };

interface ListedReplays {
  readonly parentIds?: readonly string[];
  /** Ids of the things that replays are of, such as endpoints; null for all. */
  readonly of?: readonly string[] | null;
}

interface Start {
  readonly totalMax: number;
  /** Counts and starts nothing. */
  readonly dryRun: boolean;
  readonly entry: EventDraft<"audit.recorded">;
}

interface Dependencies {
  readonly pool: Pool;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** Creates the engine: a replay runs in steps, each in one transaction, so that it continues after any interruption. */
export function createReplayEngine<Row extends ReplayRow>(
  kind: ReplayKind<Row>,
  { pool, outbox, clock }: Dependencies,
) {
  const columns: Readonly<Record<string, string>> = { ...common, ...kind.columns };
  const rows = table(kind.table, columns);
  const save = rows.update(...["status", ...kind.progress]);
  const { find, lock, list, countRunning, lockDue, keepPace } = statementsOf(kind, rows.columns);
  const rowOf = async (from: Queryable, statement: Statement, values: readonly unknown[]): Promise<Row | null> =>
    (await from.query<Row>(statement, values)).rows[0] ?? null;
  return {
    find: (id: string, accountId: string, parentId = accountId) => rowOf(pool, find, [id, accountId, parentId]),
    lock: (tx: Tx, id: string, accountId: string, parentId = accountId) => rowOf(tx, lock, [id, accountId, parentId]),
    /** Lists the same range of each parent's replays, newest first; with `of` only those of these things. */
    async list(
      range: ListRange,
      accountId: string,
      { parentIds = [accountId], of = null }: ListedReplays = {},
    ): Promise<Row[]> {
      return (await pool.query<Row>(list, [parentIds, accountId, ...rangeValues(range), of])).rows;
    },

    /** Starts the replay, whose first step is due at once. The caller has locked what it replays. */
    async start(tx: Tx, parentId: string | null, replay: Row, { totalMax: max, dryRun, entry }: Start) {
      if (replay.total > max) return { outcome: "too-many", max } as const;
      if (dryRun) return { outcome: "counted", count: replay.total } as const;
      const running =
        (await tx.query<{ count: number }>(countRunning, [parentId, replay.accountId])).rows[0]?.count ?? 0;
      if (running >= kind.runningMax) return { outcome: "limit-reached", max: kind.runningMax } as const;
      await rows.insert(tx, { ...replay, dueAt: "0 s" });
      await outbox.append(tx, [entry]);
      return { outcome: "started", replay } as const;
    },

    /** Cancels the replay; what it has sent stays sent. An ended replay stays as it is. */
    async cancel(tx: Tx, replay: Row, entry: EventDraft<"audit.recorded">): Promise<Row> {
      if (replay.status !== "running") return replay;
      const cancelled = { ...replay, ...kind.ended("cancelled", clock.now()) };
      await save(tx, cancelled);
      await outbox.append(tx, [entry]);
      return cancelled;
    },

    /** Runs one step of the replay that is due longest; returns "again" while there may be another. */
    step: (next: (tx: Tx, replay: Row) => Promise<ReplayStep<Row>>): Promise<"again" | "done"> =>
      inTransaction(pool, async (tx) => {
        const due = await rowOf(tx, lockDue, []);
        if (due === null) return "done";
        const step = await next(tx, due);
        if ("replay" in step) await save(tx, { ...step.replay, ...(step.isLast && kind.ended("done", clock.now())) });
        const paceMs = "waitMs" in step ? step.waitMs : (step.count * 1_000) / (due.rate ?? Number.POSITIVE_INFINITY);
        await tx.query(keepPace, [due.id, paceMs]);
        return "again";
      }),
  };
}

function statementsOf<Row extends ReplayRow>(kind: ReplayKind<Row>, columns: string) {
  const select = `select ${columns} from ${kind.table}`;
  const own = `${select} where id = $1 and account_id = $2 and ${kind.listedBy} = $3`;
  const isOf = `($6::text[] is null or ${kind.parent} = any($6))`;
  const listed = `${select} where ${kind.listedBy} = parent.id and account_id = $2 and ${isOf} and ${newestFirst(3)}`;
  const running = `from ${kind.table} where status = 'running'`;
  return {
    find: sql(`${kind.table}.find`, own),
    lock: sql(`${kind.table}.lock`, `${own} for update`),
    list: sql(`${kind.table}.list`, ofEachParent(listed)),
    countRunning: sql(
      `${kind.table}.count-running`,
      `select count(*)::int as count ${running} and account_id = $2 and ${kind.parent} is not distinct from $1`,
    ),
    lockDue: sql(
      `${kind.table}.lock-due`,
      `select ${columns} ${running} and due_at <= statement_timestamp() order by due_at limit 1 for update skip locked`,
    ),
    keepPace: sql(
      `${kind.table}.keep-pace`,
      `update ${kind.table} set due_at = greatest(due_at, statement_timestamp() - ${kind.lateMsMax} * interval '1 ms')
         + $2 * interval '1 ms' where id = $1`,
    ),
  };
}
