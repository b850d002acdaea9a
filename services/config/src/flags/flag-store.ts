import type { FlagDefinition } from "@signalbox/contracts";
import { numberAt } from "@signalbox/http";
import { type ListRange, type Pool, sql, type Tx, table } from "@signalbox/storage";
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

export type FlagStore = ReturnType<typeof createFlagStore>;
const flags = table("flags", columns.flags);
const revisions = table("flag_revisions", columns.flag_revisions);

const listFlags = sql("flags.list", `select ${flags.columns} from flags order by key`);
const removeFlag = sql("flags.remove", "delete from flags where key = $1");
const newest = "(select distinct on (key) * from flag_revisions order by key, revision desc) as newest";
const listNewestBefore = sql(
  "flags.list-newest-before",
  `select ${revisions.columns} from ${newest} where changed_at <= $1 order by revision`,
);
const listNewestOf = sql(
  "flags.list-newest-of",
  `select ${revisions.columns} from ${newest} where actor = $1 and reason is not null order by revision`,
);
const listHistory = sql(
  "flags.list-history",
  `select ${revisions.columns} from flag_revisions
   where key = $1 and ($2::bigint is null or revision < $2) order by revision desc limit $3`,
);
const listSince = sql(
  "flags.list-since",
  `select ${revisions.columns} from flag_revisions where revision > $1 order by revision limit $2`,
);
const findFirstSince = sql(
  "flags.find-first-since",
  "select min(revision) as revision from flag_revisions where changed_at >= $1",
);
const eraseReasons = [
  sql("flags.erase-reasons", "update flags set reason = null where actor = $1 and reason is not null"),
  // The id of a token belongs to its owner too.
  sql(
    "flags.erase-revisions",
    `update flag_revisions set reason = null, credential = null
     where actor = $1 and (reason is not null or credential is not null)`,
  ),
];

/**
 * The flags in PostgreSQL. Writes use the transaction that also carries their event, under the lock of all revisions.
 */
export function createFlagStore(pool: Pool) {
  return {
    list: async (): Promise<Flag[]> => (await pool.query<Flag>(listFlags)).rows,
    listIn: async (tx: Tx): Promise<Flag[]> => (await tx.query<Flag>(listFlags)).rows,
    /** Activates a change and records it in the history. */
    async save(tx: Tx, change: FlagChange): Promise<void> {
      await tx.query(removeFlag, [change.key]);
      if (change.definition !== null) await flags.insert(tx, change);
      await revisions.insert(tx, change);
    },
    /** Lists the changes of a flag, newest first; an archived one has a history too. */
    history: async (key: string, { after, limit }: ListRange): Promise<FlagChange[]> =>
      (await pool.query<FlagChange>(listHistory, [key, numberAt(after), limit])).rows,
    /** Lists the changes after a revision, oldest first. */
    listSince: async (revision: bigint, limit: number): Promise<FlagChange[]> =>
      (await pool.query<FlagChange>(listSince, [revision, limit])).rows,
    /** Finds the first revision since a time; null when there was none. */
    firstSince: async (time: Date): Promise<bigint | null> =>
      (await pool.query<{ revision: bigint | null }>(findFirstSince, [time])).rows[0]?.revision ?? null,
    /** Lists the newest change of each flag, where it is older than this time. */
    newestBefore: async (tx: Tx, time: Date): Promise<FlagChange[]> =>
      (await tx.query<FlagChange>(listNewestBefore, [time])).rows,
    /**
     * Erases the reasons given by an actor. Returns those changes that were the newest of their flag, without reasons.
     */
    async eraseReasonsOf(tx: Tx, actor: string): Promise<FlagChange[]> {
      const { rows } = await tx.query<FlagChange>(listNewestOf, [actor]);
      for (const statement of eraseReasons) await tx.query(statement, [actor]);
      return rows.map((change) => ({ ...change, reason: null }));
    },
  };
}
