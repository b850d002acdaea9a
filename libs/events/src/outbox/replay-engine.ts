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

/** The replays of one service. Names become part of statements. */
export interface ReplayKind<Row extends ReplayRow> {
  readonly table: string;
  /** All columns of the table, each with its PostgreSQL type. */
  readonly columns: Readonly<Record<keyof Row & string, string>>;
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

interface EngineParts {
  readonly pool: Pool;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** The replays of one kind. Each runs in steps of one transaction each, so that it continues after any interruption. */
export class ReplayEngine<Row extends ReplayRow> {
  readonly #kind: ReplayKind<Row>;
  readonly #parts: EngineParts;
  readonly #rows;
  readonly #save;
  readonly #statements;

  constructor(kind: ReplayKind<Row>, parts: EngineParts) {
    this.#kind = kind;
    this.#parts = parts;
    // By the clock of the database, which is the same for all instances.
    const columns: Readonly<Record<string, string>> = { ...kind.columns, dueAt: "interval + statement_timestamp()" };
    this.#rows = table(kind.table, columns);
    this.#save = this.#rows.update(...["status", ...kind.progress]);
    this.#statements = statementsOf(kind, this.#rows.columns);
  }

  find(id: string, accountId: string, parentId = accountId): Promise<Row | null> {
    return this.#rowOf(this.#parts.pool, this.#statements.find, [id, accountId, parentId]);
  }

  lock(tx: Tx, id: string, accountId: string, parentId = accountId): Promise<Row | null> {
    return this.#rowOf(tx, this.#statements.lock, [id, accountId, parentId]);
  }

  /** Lists the same range of each parent's replays, newest first; with `of` only those of these things. */
  async list(range: ListRange, accountId: string, listed: ListedReplays = {}): Promise<Row[]> {
    const { parentIds = [accountId], of = null } = listed;
    const values = [parentIds, accountId, ...rangeValues(range), of];
    return (await this.#parts.pool.query<Row>(this.#statements.list, values)).rows;
  }

  /** Starts the replay, whose first step is due at once. The caller has locked what it replays. */
  async start(tx: Tx, parentId: string | null, replay: Row, { totalMax: max, dryRun, entry }: Start) {
    const { runningMax } = this.#kind;
    if (replay.total > max) return { outcome: "too-many", max } as const;
    if (dryRun) return { outcome: "counted", count: replay.total } as const;
    const { rows } = await tx.query<{ count: number }>(this.#statements.countRunning, [parentId, replay.accountId]);
    if ((rows[0]?.count ?? 0) >= runningMax) return { outcome: "limit-reached", max: runningMax } as const;
    await this.#rows.insert(tx, { ...replay, dueAt: "0 s" });
    await this.#parts.outbox.append(tx, [entry]);
    return { outcome: "started", replay } as const;
  }

  /** Cancels the replay; what it has sent stays sent. An ended replay stays as it is. */
  async cancel(tx: Tx, replay: Row, entry: EventDraft<"audit.recorded">): Promise<Row> {
    if (replay.status !== "running") return replay;
    const cancelled = { ...replay, ...this.#kind.ended("cancelled", this.#parts.clock.now()) };
    await this.#save(tx, cancelled);
    await this.#parts.outbox.append(tx, [entry]);
    return cancelled;
  }

  /** Runs one step of the replay that is due longest; returns "again" while there may be another. */
  step(next: (tx: Tx, replay: Row) => Promise<ReplayStep<Row>>): Promise<"again" | "done"> {
    const { pool, clock } = this.#parts;
    return inTransaction(pool, async (tx) => {
      const due = await this.#rowOf(tx, this.#statements.lockDue, []);
      if (due === null) return "done";
      const step = await next(tx, due);
      if ("replay" in step)
        await this.#save(tx, { ...step.replay, ...(step.isLast && this.#kind.ended("done", clock.now())) });
      const paceMs = "waitMs" in step ? step.waitMs : (step.count * 1_000) / (due.rate ?? Number.POSITIVE_INFINITY);
      await tx.query(this.#statements.keepPace, [due.id, paceMs]);
      return "again";
    });
  }

  async #rowOf(from: Queryable, statement: Statement, values: readonly unknown[]): Promise<Row | null> {
    return (await from.query<Row>(statement, values)).rows[0] ?? null;
  }
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
