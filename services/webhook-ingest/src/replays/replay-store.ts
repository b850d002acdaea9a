import {
  advisoryLock,
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
import type { Replay } from "./replay.ts";

const replays = table("received_replays", {
  id: "text",
  sourceId: "text",
  accountId: "text",
  status: "text",
  receivedIds: "text[]",
  eventTypes: "text[]",
  fromAt: "timestamptz",
  toAt: "timestamptz",
  rate: "int4",
  total: "int4",
  published: "int4",
  missing: "int4",
  positionAt: "timestamptz",
  positionId: "text",
  dueAt: "timestamptz",
  createdAt: "timestamptz",
  finishedAt: "timestamptz",
});
const save = replays.update("status", "published", "missing", "positionAt", "positionId", "finishedAt");
// By the clock of the database, which is the same for all instances.
const postpone = sql(
  "replay.postpone",
  "update received_replays set due_at = statement_timestamp() + $2 * interval '1 ms' where id = $1",
);
// A late replay catches up on one second at most, never on all at once.
const keepPace = sql(
  "replay.keep-pace",
  `update received_replays
   set due_at = greatest(due_at, statement_timestamp() - interval '1 s') + $2 * interval '1 ms' where id = $1`,
);

const select = `select ${replays.columns} from received_replays`;
const own = `${select} where id = $3 and source_id = $2 and account_id = $1`;
const find = sql("replay.find", own);
const lock = sql("replay.lock", `${own} for update`);
const list = sql(
  "replay.list",
  ofEachParent(`${select} where source_id = parent.id and account_id = $2 and ${newestFirst(3)}`),
);
const countRunning = sql(
  "replay.count-running",
  "select count(*)::int as count from received_replays where source_id = $1 and status = 'running'",
);
const lockDue = sql(
  "replay.lock-due",
  `${select} where status = 'running' and due_at <= statement_timestamp() order by due_at limit 1 for update skip locked`,
);

/** Stores replays in PostgreSQL. Every look-up for a caller names the account. */
export function createReplayStore(pool: Pool) {
  const rowOf = async (from: Queryable, statement: Statement, values: unknown[]): Promise<Replay | null> =>
    (await from.query<Replay>(statement, values)).rows[0] ?? null;
  return {
    find: (accountId: string, sourceId: string, id: string) => rowOf(pool, find, [accountId, sourceId, id]),
    lock: (tx: Tx, accountId: string, sourceId: string, id: string) => rowOf(tx, lock, [accountId, sourceId, id]),
    /** Locks the due replay that has waited longest and that no other instance has locked. */
    lockDue: (tx: Tx) => rowOf(tx, lockDue, []),
    /** Lists the same range of each source's replays, newest first. */
    list: async (accountId: string, sourceIds: readonly string[], range: ListRange): Promise<Replay[]> =>
      (await pool.query<Replay>(list, [sourceIds, accountId, ...rangeValues(range)])).rows,
    /** Counts the running replays of a source, and blocks a concurrent insert until the transaction ends. */
    async lockCount(tx: Tx, sourceId: string): Promise<number> {
      await advisoryLock(tx, `replays:${sourceId}`);
      return (await tx.query<{ count: number }>(countRunning, [sourceId])).rows[0]?.count ?? 0;
    },
    /** Inserts the replay; its first step is due at once. */
    async insert(tx: Tx, replay: Replay): Promise<void> {
      await replays.insert(tx, { ...replay, dueAt: new Date(0) });
      await tx.query(postpone, [replay.id, 0]);
    },
    save,
    /** Schedules the next step at this time from now. */
    postpone: async (tx: Tx, { id }: Replay, byMs: number): Promise<void> =>
      void (await tx.query(postpone, [id, byMs])),
    /** Schedules the next step at this time after the present one was due. */
    keepPace: async (tx: Tx, { id }: Replay, byMs: number): Promise<void> =>
      void (await tx.query(keepPace, [id, byMs])),
  };
}

export type ReplayStore = ReturnType<typeof createReplayStore>;
