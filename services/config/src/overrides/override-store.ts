import { numberAt } from "@signalbox/http";
import { type ListRange, type Queryable, sql, type Tx, table } from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import type { PropertyRevision as ChangeRow, PropertyOverride as OverrideRow } from "../generated/prisma/client.ts";
import { revisionHistory } from "./revision-history.ts";

/** An active override. Revisions count changes over all properties; the value is any JSON that the property accepts. */
export type Override = Readonly<Omit<OverrideRow, "value">> & { readonly value: unknown };

/** One change: an override set, or (with `set` false and a value of null) removed. */
export type Change = Readonly<Omit<ChangeRow, "value">> & { readonly value: unknown };

/** A change in the history of its property, with the previous value. */
export type PastChange = Change & { readonly wasSet: boolean; readonly before: unknown };

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
const history = sql(
  "overrides.history",
  `select ${revisions.columns}, coalesce("wasSet", false) as "wasSet", before from (
     select *, lag(set) over w as "wasSet", lag(value) over w as before from property_revisions where name = $1
     window w as (partition by name order by revision)
   ) as history where ($2::int8 is null or revision < $2) order by revision desc limit $3`,
);

export const overrideRevisions = revisionHistory<Change>({
  kind: "overrides",
  active: "property_overrides",
  name: "property_revisions",
  key: "name",
  columns: revisions.columns,
});

const erasures = [
  sql(
    "overrides.erase-proposals",
    "update change_proposals set reason = null where author = $1 and reason is not null",
  ),
  sql(
    "overrides.erase-decisions",
    "update change_proposals set decision_reason = null where decided_by = $1 and decision_reason is not null",
  ),
];

export const listExpired = async (db: Queryable, now: Date): Promise<Override[]> =>
  (await db.query<Override>(listDue, [now])).rows;

/** Serializes all changes until the transaction ends; returns the newest revision. */
export const lockRevisions = (tx: Tx): Promise<bigint> => revisionBy(tx, lockCounter);

export const overridesByName = async (db: Queryable): Promise<ReadonlyMap<string, Override>> =>
  new Map((await db.query<Override>(listAll)).rows.map((override) => [override.name, override]));

/** Reads the active overrides by name, which nobody changes before the transaction ends. */
export async function lockOverrides(tx: Tx): Promise<ReadonlyMap<string, Override>> {
  await lockRevisions(tx);
  return overridesByName(tx);
}

export const newestRevision = (db: Queryable): Promise<bigint> => revisionBy(db, readNewest);

/** Assigns the next revision, and takes the lock of all changes. */
export const nextRevision = (tx: Tx): Promise<bigint> => revisionBy(tx, assignRevision);

/** Activates a change and records it in the history. */
export async function saveChange(tx: Tx, change: Change): Promise<void> {
  await tx.query(remove, [change.name]);
  if (change.set) await overrides.insert(tx, change);
  await revisions.insert(tx, change);
}

export const findChange = async (db: Queryable, name: string, revision: bigint): Promise<Change | null> =>
  (await db.query<Change>(findOneChange, [name, revision])).rows[0] ?? null;

/** Lists the newest change of each property at a revision. */
export const listAt = async (db: Queryable, revision: bigint): Promise<Change[]> =>
  (await db.query<Change>(listChangesAt, [revision])).rows;

/** Lists the changes of a property, newest first, each with the previous value. */
export const listHistory = async (db: Queryable, name: string, { after, limit }: ListRange): Promise<PastChange[]> =>
  (await db.query<PastChange>(history, [name, numberAt(after), limit])).rows;

/**
 * Erases the reasons given by an actor. Returns those changes that were the newest of their property, without reasons.
 */
export async function eraseReasons(tx: Tx, actor: string): Promise<Change[]> {
  for (const statement of erasures) await tx.query(statement, [actor]);
  return overrideRevisions.erase(tx, actor);
}

async function revisionBy(db: Queryable, statement: typeof readNewest): Promise<bigint> {
  const [row] = (await db.query<{ readonly revision: bigint }>(statement)).rows;
  if (row === undefined) throw new Error("the revision counter has no row: was the database migrated?");
  return row.revision;
}
