import {
  advisoryLock,
  type ListRange,
  newestFirst,
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
const save = replays.update("status", "published", "missing", "positionAt", "positionId", "dueAt", "finishedAt");

const select = `select ${replays.columns} from received_replays`;
const own = `${select} where id = $3 and source_id = $2 and account_id = $1`;
const find = sql("replay.find", own);
const lock = sql("replay.lock", `${own} for update`);
const list = sql("replay.list", `${select} where account_id = $1 and source_id = $2 and ${newestFirst(3)}`);
const countRunning = sql(
  "replay.count-running",
  "select count(*)::int as count from received_replays where source_id = $1 and status = 'running'",
);
const lockDue = sql(
  "replay.lock-due",
  `${select} where status = 'running' and due_at <= $1 order by due_at limit 1 for update skip locked`,
);

/** Replays in PostgreSQL. Every look-up on behalf of a caller names the account. */
export function createReplayStore(pool: Pool) {
  const rowOf = async (from: Queryable, statement: Statement, values: unknown[]): Promise<Replay | null> =>
    (await from.query<Replay>(statement, values)).rows[0] ?? null;
  return {
    find: (accountId: string, sourceId: string, id: string) => rowOf(pool, find, [accountId, sourceId, id]),
    lock: (tx: Tx, accountId: string, sourceId: string, id: string) => rowOf(tx, lock, [accountId, sourceId, id]),
    /** The one that has waited longest, of those whose next webhooks are due and nobody is at. */
    lockDue: (tx: Tx, now: Date) => rowOf(tx, lockDue, [now]),
    list: async (accountId: string, sourceId: string, range: ListRange): Promise<Replay[]> =>
      (await pool.query<Replay>(list, [accountId, sourceId, ...rangeValues(range)])).rows,
    /** Counts those of a source that run, and keeps others from adding one until the transaction ends. */
    async lockCount(tx: Tx, sourceId: string): Promise<number> {
      await advisoryLock(tx, `replays:${sourceId}`);
      return (await tx.query<{ count: number }>(countRunning, [sourceId])).rows[0]?.count ?? 0;
    },
    insert: replays.insert,
    save,
  };
}

export type ReplayStore = ReturnType<typeof createReplayStore>;
