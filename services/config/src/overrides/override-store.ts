import { numberAt } from "@signalbox/http";
import { type ListRange, type Queryable, sql, type Tx, table } from "@signalbox/storage";
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

const overrides = table("property_overrides", columns.property_overrides);
const revisions = table("property_revisions", columns.property_revisions);

const listAll = sql("overrides.list", `select ${overrides.columns} from property_overrides order by name`);
const remove = sql("overrides.remove", "delete from property_overrides where name = $1");
const listDue = sql(
  "overrides.list-expired",
  `select ${overrides.columns} from property_overrides where expires_at <= $1 order by name`,
);
const assignRevision = sql(
  "overrides.next-revision",
  "update revision_counter set revision = revision + 1 returning revision",
);
const readNewest = sql("overrides.read-revision", "select revision from revision_counter");
const lockCounter = sql("overrides.lock-revisions", "select revision from revision_counter for update");
const findOneChange = sql(
  "overrides.find-change",
  `select ${revisions.columns} from property_revisions where name = $1 and revision = $2`,
);
/** The newest change of each property at a revision. */
const listChangesAt = sql(
  "overrides.list-at",
  `select distinct on (name) ${revisions.columns} from property_revisions where revision <= $1 order by name, revision desc`,
);
const listChangesSince = sql(
  "overrides.list-since",
  `select ${revisions.columns} from property_revisions where revision > $1 order by revision, name limit $2`,
);
const findFirst = sql(
  "overrides.find-first-since",
  "select min(revision) as revision from property_revisions where changed_at >= $1",
);
const history = sql(
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
const erasures = [
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

/** Lists the expired overrides. */
export const listExpired = async (db: Queryable, now: Date): Promise<Override[]> =>
  (await db.query<Override>(listDue, [now])).rows;

/** Serializes all changes until the transaction ends; returns the newest revision. */
export const lockRevisions = async (tx: Tx): Promise<bigint> => revisionIn((await tx.query<Counter>(lockCounter)).rows);

/** Reads the active overrides by name. */
export const overridesByName = async (db: Queryable): Promise<ReadonlyMap<string, Override>> =>
  new Map((await db.query<Override>(listAll)).rows.map((override) => [override.name, override]));

/** Reads the active overrides by name, which nobody changes before the transaction ends. */
export async function lockOverrides(tx: Tx): Promise<ReadonlyMap<string, Override>> {
  await lockRevisions(tx);
  return overridesByName(tx);
}

/** Reads the newest revision. */
export const newestRevision = async (db: Queryable): Promise<bigint> =>
  revisionIn((await db.query<Counter>(readNewest)).rows);

/** Assigns the next revision, and takes the lock of all changes. */
export const nextRevision = async (tx: Tx): Promise<bigint> =>
  revisionIn((await tx.query<Counter>(assignRevision)).rows);

/** Activates a change and records it in the history. */
export async function saveChange(tx: Tx, change: Change): Promise<void> {
  await tx.query(remove, [change.name]);
  if (change.set) await overrides.insert(tx, change);
  await revisions.insert(tx, change);
}

/** Finds one change of a property. */
export const findChange = async (db: Queryable, name: string, revision: bigint): Promise<Change | null> =>
  (await db.query<Change>(findOneChange, [name, revision])).rows[0] ?? null;

/** Lists the newest change of each property at a revision. */
export const listAt = async (db: Queryable, revision: bigint): Promise<Change[]> =>
  (await db.query<Change>(listChangesAt, [revision])).rows;

/** Lists the changes after a revision, oldest first. */
export const listChanges = async (db: Queryable, revision: bigint, limit: number): Promise<Change[]> =>
  (await db.query<Change>(listChangesSince, [revision, limit])).rows;

/** Finds the first revision since a time; null when there was none. */
export const firstRevisionSince = async (db: Queryable, time: Date): Promise<bigint | null> =>
  (await db.query<{ revision: bigint | null }>(findFirst, [time])).rows[0]?.revision ?? null;

/** Lists the changes of a property, newest first, each with the previous value. */
export const listHistory = async (db: Queryable, name: string, { after, limit }: ListRange): Promise<PastChange[]> =>
  (await db.query<PastChange>(history, [name, numberAt(after), limit])).rows;

/**
 * Lists the newest change of each property, where it is older than this time, and blocks other changes until the
 * transaction ends.
 */
export async function lockNewestBefore(tx: Tx, time: Date): Promise<Change[]> {
  await lockRevisions(tx);
  return (await tx.query<Change>(listNewestBefore, [time])).rows;
}

/**
 * Erases the reasons given by an actor. Returns those changes that were the newest of their property, without reasons.
 */
export async function eraseReasons(tx: Tx, actor: string): Promise<Change[]> {
  await lockRevisions(tx);
  const { rows } = await tx.query<Change>(listNewestOf, [actor]);
  for (const statement of erasures) await tx.query(statement, [actor]);
  return rows.map((change) => ({ ...change, reason: null }));
}

type Counter = { readonly revision: bigint };

function revisionIn([row]: readonly Counter[]): bigint {
  if (row === undefined) throw new Error("the revision counter has no row: was the database migrated?");
  return row.revision;
}
