import { numberAt } from "@signalbox/http";
import { type ListRange, type Pool, sql, type Tx, table } from "@signalbox/storage";
import { columns } from "../generated/columns.ts";

/** An active override. Revisions count changes over all properties; the value is any JSON that the property accepts. */
export interface Override {
  readonly name: string;
  readonly value: unknown;
  readonly revision: bigint;
  readonly actor: string;
  readonly reason: string | null;
  readonly changedAt: Date;
  /** Time at which it expires. */
  readonly expiresAt: Date | null;
  /** The revision of the last permanent change, restored at the expiry; 0 when there was none. */
  readonly restores: bigint | null;
}

/** One change: an override set, or (with `set` false and a value of null) removed. */
export interface Change extends Override {
  readonly set: boolean;
  readonly credential: string | null;
  readonly requestId: string | null;
  /** Number of properties that the revision changes. */
  readonly together: number;
}

/** A change in the history of its property, with the previous value. */
export interface PastChange extends Change {
  readonly wasSet: boolean;
  readonly before: unknown;
}

export type OverrideStore = ReturnType<typeof createOverrideStore>;
const overrides = table("property_overrides", columns.property_overrides);
const revisions = table("property_revisions", columns.property_revisions);

const listOverrides = sql("overrides.list", `select ${overrides.columns} from property_overrides order by name`);
const findOverride = sql("overrides.find", `select ${overrides.columns} from property_overrides where name = $1`);
const removeOverride = sql("overrides.remove", "delete from property_overrides where name = $1");
const listExpired = sql(
  "overrides.list-expired",
  `select ${overrides.columns} from property_overrides where expires_at <= $1 order by name`,
);
const nextRevision = sql(
  "overrides.next-revision",
  "update revision_counter set revision = revision + 1 returning revision",
);
const readRevision = sql("overrides.read-revision", "select revision from revision_counter");
const lockRevisions = sql("overrides.lock-revisions", "select revision from revision_counter for update");
const findChange = sql(
  "overrides.find-change",
  `select ${revisions.columns} from property_revisions where name = $1 and revision = $2`,
);
/** The newest change of each property at a revision. */
const listAt = sql(
  "overrides.list-at",
  `select distinct on (name) ${revisions.columns} from property_revisions where revision <= $1 order by name, revision desc`,
);
const listSince = sql(
  "overrides.list-since",
  `select ${revisions.columns} from property_revisions where revision > $1 order by revision, name limit $2`,
);
const findFirstSince = sql(
  "overrides.find-first-since",
  "select min(revision) as revision from property_revisions where changed_at >= $1",
);
const listHistory = sql(
  "overrides.history",
  `select ${revisions.columns}, coalesce("wasSet", false) as "wasSet", before from (
     select *, lag(set) over w as "wasSet", lag(value) over w as before from property_revisions where name = $1
     window w as (partition by name order by revision)
   ) as history where ($2::int8 is null or revision < $2) order by revision desc limit $3`,
);

const newest = "(select distinct on (name) * from property_revisions order by name, revision desc) as newest";
const listNewestBefore = sql(
  "overrides.list-newest-before",
  `select ${revisions.columns} from ${newest} where changed_at <= $1 order by revision`,
);
/** The newest change of each property, where this actor gave its reason. */
const listNewestOf = sql(
  "overrides.list-newest-of",
  `select ${revisions.columns} from ${newest}
   where actor = $1 and reason is not null order by revision`,
);
const eraseReasons = [
  sql("overrides.erase-reasons", "update property_overrides set reason = null where actor = $1 and reason is not null"),
  // The id of a token belongs to its owner too.
  sql(
    "overrides.erase-revisions",
    `update property_revisions set reason = null, credential = null
     where actor = $1 and (reason is not null or credential is not null)`,
  ),
  sql(
    "overrides.erase-proposals",
    "update change_proposals set reason = null where author = $1 and reason is not null",
  ),
  sql(
    "overrides.erase-decisions",
    "update change_proposals set decision_reason = null where decided_by = $1 and decision_reason is not null",
  ),
];

/** The overrides in PostgreSQL. Writes use the transaction that also carries their event. */
export function createOverrideStore(pool: Pool) {
  return {
    list: async (): Promise<Override[]> => (await pool.query<Override>(listOverrides)).rows,
    /** Lists the active overrides by name, including the changes of this transaction. */
    listIn: async (tx: Tx): Promise<ReadonlyMap<string, Override>> => {
      const { rows } = await tx.query<Override>(listOverrides);
      return new Map(rows.map((override) => [override.name, override]));
    },
    find: async (tx: Tx, name: string): Promise<Override | null> =>
      (await tx.query<Override>(findOverride, [name])).rows[0] ?? null,
    /** Lists the expired overrides. */
    listExpired: async (now: Date): Promise<Override[]> => (await pool.query<Override>(listExpired, [now])).rows,
    /** Serializes all changes until the transaction ends; returns the newest revision. */
    lock: async (tx: Tx): Promise<bigint> => revisionIn((await tx.query<Counter>(lockRevisions)).rows),
    /** Reads the newest revision. */
    newest: async (): Promise<bigint> => revisionIn((await pool.query<Counter>(readRevision)).rows),
    /** Assigns the next revision, and takes the lock of all changes. */
    nextRevision: async (tx: Tx): Promise<bigint> => revisionIn((await tx.query<Counter>(nextRevision)).rows),
    /** Activates a change and records it in the history. */
    async save(tx: Tx, change: Change): Promise<void> {
      await tx.query(removeOverride, [change.name]);
      if (change.set) await overrides.insert(tx, change);
      await revisions.insert(tx, change);
    },
    /** Finds one change of a property. */
    findChange: async (tx: Tx, name: string, revision: bigint): Promise<Change | null> =>
      (await tx.query<Change>(findChange, [name, revision])).rows[0] ?? null,
    /** Lists the newest change of each property at a revision. */
    listAt: async (tx: Tx, revision: bigint): Promise<Change[]> => (await tx.query<Change>(listAt, [revision])).rows,
    /** Lists the changes after a revision, oldest first. */
    listSince: async (revision: bigint, limit: number): Promise<Change[]> =>
      (await pool.query<Change>(listSince, [revision, limit])).rows,
    /** Finds the first revision since a time; null when there was none. */
    firstSince: async (time: Date): Promise<bigint | null> =>
      (await pool.query<{ revision: bigint | null }>(findFirstSince, [time])).rows[0]?.revision ?? null,
    /** Lists the changes of a property, newest first, each with the previous value. */
    async history(name: string, { after, limit }: ListRange): Promise<PastChange[]> {
      return (await pool.query<PastChange>(listHistory, [name, numberAt(after), limit])).rows;
    },
    /**
     * Lists the newest change of each property, where it is older than this time, and blocks other changes until the
     * transaction ends.
     */
    async newestBefore(tx: Tx, time: Date): Promise<Change[]> {
      await tx.query(lockRevisions);
      return (await tx.query<Change>(listNewestBefore, [time])).rows;
    },
    /**
     * Erases the reasons given by an actor. Returns those changes that were the newest of their property, without
     * reasons.
     */
    async eraseReasonsOf(tx: Tx, actor: string): Promise<Change[]> {
      await tx.query(lockRevisions);
      const { rows } = await tx.query<Change>(listNewestOf, [actor]);
      for (const statement of eraseReasons) await tx.query(statement, [actor]);
      return rows.map((change) => ({ ...change, reason: null }));
    },
  };
}

type Counter = { readonly revision: bigint };

function revisionIn([row]: readonly Counter[]): bigint {
  if (row === undefined) throw new Error("the revision counter has no row: was the database migrated?");
  return row.revision;
}
