import {
  type ListRange,
  newestFirst,
  type Pool,
  type Queryable,
  type RetentionRule,
  rangeValues,
  sql,
  type Tx,
  table,
} from "@signalbox/storage";
import { advanceIdleKeys, lockOrder } from "../queue/delivery-order.ts";
import type { Replay, ReplayFilter } from "./replay.ts";

const replays = table("replays", {
  id: "text",
  accountId: "text",
  endpointId: "text",
  statuses: "text[]",
  eventTypes: "text[]",
  eventIds: "text[]",
  fromTime: "timestamptz",
  toTime: "timestamptz",
  rate: "int4",
  status: "text",
  total: "int4",
  replayed: "int4",
  placeTime: "timestamptz",
  placeId: "text",
  dueAt: "timestamptz",
  createdAt: "timestamptz",
  endedAt: "timestamptz",
});
const saveReplay = replays.update("status", "replayed", "placeTime", "placeId", "endedAt");
// By the clock of the database, which is the same for all instances.
const postponeReplay = sql(
  "replay.postpone",
  "update replays set due_at = statement_timestamp() + $2 * interval '1 ms' where id = $1",
);
const select = `select ${replays.columns} from replays`;
const findReplay = sql("replay.find", `${select} where id = $1 and account_id = $2`);
const lockReplay = sql("replay.lock", `${findReplay.text} for update`);
const listReplays = sql("replay.list", `${select} where account_id = $1 and ${newestFirst(2)}`);
const findRunning = sql(
  "replay.running",
  "select 1 from replays where endpoint_id = $1 and status = 'running' limit 1",
);
const lockDue = sql(
  "replay.lock-due",
  `${select} where status = 'running' and due_at <= statement_timestamp() order by due_at limit 1 for update skip locked`,
);

/** Condition for the deliveries of a replay; `wantedValues` gives its values. */
const wanted = `endpoint_id = $1 and status = any($2::text[]) and created_at >= $3 and created_at < $4
  and (cardinality($5::text[]) = 0 or exists (
    select from unnest($5::text[]) as f (filter)
    where case when right(filter, 1) = '*' then starts_with(event_type, left(filter, -1)) else event_type = filter end))
  and (cardinality($6::text[]) = 0 or event_id = any($6::text[]))`;
const countWanted = sql(
  "",
  `select count(*)::int as count from (
     select 1 from deliveries where ${wanted} limit $7) as found`,
);
/**
 * Queues the next deliveries. Pending ones are not queued a second time, and those that the retention removed meanwhile
 * are skipped.
 */
const queueNext = sql(
  "",
  `with chosen as materialized (
     select id, created_at, row_number() over (order by created_at, id) as place from (
       select id, created_at from deliveries where ${wanted} and (created_at, id) > ($7, $8)
       order by created_at, id limit $9) as next
   ), changed as (
     update deliveries as d set status = 'pending', next_attempt_at = statement_timestamp()
     from chosen where d.id = chosen.id and d.created_at = chosen.created_at and d.status = any($2::text[])
     returning d.id, d.order_key, d.sequence
   ), queued as (
     insert into delivery_queue (endpoint_id, due_at, delivery_id, created_at, replay_id, order_key, sequence)
     select $1, case when order_key is null
         then statement_timestamp() + place * $10::int * interval '1 microsecond' else 'infinity' end,
       id, created_at, $11, order_key, sequence
     from chosen join changed using (id)
   )
   select count(*)::int as count, max(created_at) as "placeTime",
     (select id from chosen order by place desc limit 1) as "placeId",
     array(select distinct order_key from changed where order_key is not null) as keys from chosen`,
);
const countQueued = sql(
  "replay.count-queued",
  "select count(*)::int as count from (select 1 from delivery_queue where endpoint_id = $1 limit $2) as found",
);

const wantedValues = ({ endpointId, statuses, fromTime, toTime, eventTypes, eventIds }: ReplayFilter) => [
  ...[endpointId, statuses, fromTime, toTime, eventTypes, eventIds],
];

/** Replays in PostgreSQL. */
export function createReplayStore(pool: Pool) {
  const rowOf = async (from: Queryable, ...query: Parameters<Queryable["query"]>): Promise<Replay | null> =>
    (await from.query<Replay>(...query)).rows[0] ?? null;
  return {
    find: (accountId: string, id: string) => rowOf(pool, findReplay, [id, accountId]),
    list: async (accountId: string, range: ListRange): Promise<Replay[]> =>
      (await pool.query<Replay>(listReplays, [accountId, ...rangeValues(range)])).rows,
    lock: (tx: Tx, accountId: string, id: string) => rowOf(tx, lockReplay, [id, accountId]),
    /** Locks a running replay whose next step is due and which no other instance has locked. */
    lockDue: (tx: Tx) => rowOf(tx, lockDue, []),
    isRunning: async (tx: Tx, endpointId: string): Promise<boolean> =>
      (await tx.query(findRunning, [endpointId])).rows.length > 0,
    /** Inserts the replay; its first step is due at once. */
    insert: (tx: Tx, replay: Replay): Promise<void> => replays.insert(tx, { ...replay, dueAt: new Date(0) }),
    /** Saves the replay; its next step is due after `dueInMs`. */
    async save(tx: Tx, replay: Replay, dueInMs: number): Promise<void> {
      await saveReplay(tx, replay);
      await tx.query(postponeReplay, [replay.id, dueInMs]);
    },

    /** Counts the matching deliveries, up to `most`. */
    countWanted: async (db: Queryable, filter: ReplayFilter, most: number): Promise<number> =>
      (await db.query<{ count: number }>(countWanted, [...wantedValues(filter), most])).rows[0]?.count ?? 0,
    /** Counts the queued deliveries of the endpoint, up to `most`. */
    countQueued: async (tx: Tx, endpointId: string, most: number): Promise<number> =>
      (await tx.query<{ count: number }>(countQueued, [endpointId, most])).rows[0]?.count ?? 0,
    /**
     * Queues the next deliveries, due at intervals of `apartUs` microseconds; ordered ones join the queue of their key.
     * Returns their number and the new position.
     */
    async queueNext(tx: Tx, replay: Replay, limit: number, apartUs: number) {
      const { endpointId } = replay;
      await lockOrder(tx, [endpointId]);
      const values = [...wantedValues(replay), replay.placeTime, replay.placeId, limit, apartUs, replay.id];
      const [row] = (await tx.query<QueuedStep>(queueNext, values)).rows;
      const keys = row?.keys ?? [];
      await advanceIdleKeys(
        tx,
        keys.map((orderKey) => ({ endpointId, orderKey })),
      );
      return row ?? { count: 0, placeTime: null, placeId: null };
    },
  };
}

interface QueuedStep {
  readonly count: number;
  readonly placeTime: Date | null;
  readonly placeId: string | null;
  /** Order keys of the ordered deliveries among them. */
  readonly keys: readonly string[];
}

/** Retention of replays: their deliveries are gone by then. */
export const replayRetention = (keepMs: () => number): RetentionRule => ({
  name: "trim replays",
  table: "replays",
  column: "created_at",
  keepMs,
});

export type ReplayStore = ReturnType<typeof createReplayStore>;
