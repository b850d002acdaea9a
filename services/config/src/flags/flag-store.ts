import type { FlagDefinition } from "@signalbox/contracts";
import { numberAt } from "@signalbox/http";
import { type ListRange, type Queryable, sql, type Tx, table } from "@signalbox/storage";
import { columns } from "../generated/columns.ts";

/** An active flag. */
export interface Flag {
  readonly key: string;
  readonly definition: FlagDefinition;
  readonly revision: bigint;
  readonly actor: string;
  readonly reason: string | null;
  readonly changedAt: Date;
}

/** One change of a flag; a definition of null means that it was archived. */
export interface FlagChange extends Omit<Flag, "definition"> {
  readonly definition: FlagDefinition | null;
  readonly credential: string | null;
  readonly requestId: string | null;
}

const flags = table("flags", columns.flags);
const revisions = table("flag_revisions", columns.flag_revisions);

const listAll = sql("flags.list", `select ${flags.columns} from flags order by key`);
const remove = sql("flags.remove", "delete from flags where key = $1");
const newest = "(select distinct on (key) * from flag_revisions order by key, revision desc) as newest";
const listNewestBefore = sql(
  "flags.list-newest-before",
  `select ${revisions.columns} from ${newest} where changed_at <= $1 order by revision`,
);
const listNewestOf = sql(
  "flags.list-newest-of",
  `select ${revisions.columns} from ${newest} where actor = $1 and reason is not null order by revision`,
);
const history = sql(
  "flags.list-history",
  `select ${revisions.columns} from flag_revisions
   where key = $1 and ($2::bigint is null or revision < $2) order by revision desc limit $3`,
);
const listChangesSince = sql(
  "flags.list-since",
  `select ${revisions.columns} from flag_revisions where revision > $1 order by revision limit $2`,
);
const findFirst = sql(
  "flags.find-first-since",
  "select min(revision) as revision from flag_revisions where changed_at >= $1",
);
const erasures = [
  sql("flags.erase-reasons", "update flags set reason = null where actor = $1 and reason is not null"),
  // The id of a token belongs to its owner too.
  sql(
    "flags.erase-revisions",
    `update flag_revisions set reason = null, credential = null
     where actor = $1 and (reason is not null or credential is not null)`,
  ),
];

export const listFlags = async (db: Queryable): Promise<Flag[]> => (await db.query<Flag>(listAll)).rows;

/** Activates a change and records it in the history. */
export async function saveFlag(tx: Tx, change: FlagChange): Promise<void> {
  await tx.query(remove, [change.key]);
  if (change.definition !== null) await flags.insert(tx, change);
  await revisions.insert(tx, change);
}

/** Lists the changes of a flag, newest first; an archived one has a history too. */
export const listFlagHistory = async (db: Queryable, key: string, { after, limit }: ListRange): Promise<FlagChange[]> =>
  (await db.query<FlagChange>(history, [key, numberAt(after), limit])).rows;

/** Lists the changes after a revision, oldest first. */
export const listFlagChanges = async (db: Queryable, revision: bigint, limit: number): Promise<FlagChange[]> =>
  (await db.query<FlagChange>(listChangesSince, [revision, limit])).rows;

/** Finds the first revision since a time; null when there was none. */
export const firstFlagRevisionSince = async (db: Queryable, time: Date): Promise<bigint | null> =>
  (await db.query<{ revision: bigint | null }>(findFirst, [time])).rows[0]?.revision ?? null;

/** Lists the newest change of each flag, where it is older than this time. */
export const listNewestFlagsBefore = async (tx: Tx, time: Date): Promise<FlagChange[]> =>
  (await tx.query<FlagChange>(listNewestBefore, [time])).rows;

/** Erases the reasons given by an actor. Returns those changes that were the newest of their flag, without reasons. */
export async function eraseFlagReasons(tx: Tx, actor: string): Promise<FlagChange[]> {
  const { rows } = await tx.query<FlagChange>(listNewestOf, [actor]);
  for (const statement of erasures) await tx.query(statement, [actor]);
  return rows.map((change) => ({ ...change, reason: null }));
}
