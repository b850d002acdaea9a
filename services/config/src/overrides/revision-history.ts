import { type Queryable, sql, type Tx } from "@signalbox/storage";

/** A history of changes by revision, in which `key` names what a change is of. */
interface HistoryTable {
  /** The prefix of the statements' names. */
  readonly kind: "overrides" | "flags";
  /** The table of what is active now. */
  readonly active: string;
  readonly name: string;
  readonly key: string;
  readonly columns: string;
}

/** Declares the reads and the erasure that the histories of properties and flags share. */
export function revisionHistory<Change extends { readonly reason: string | null }>(history: HistoryTable) {
  const { kind, active, name, key, columns } = history;
  const newest = `(select distinct on (${key}) * from ${name} order by ${key}, revision desc) as newest`;
  const before = `select ${columns} from ${newest} where changed_at <= $1 order by revision`;
  const newestBefore = sql(`${kind}.list-newest-before`, before);
  const ofActor = `select ${columns} from ${newest} where actor = $1 and reason is not null order by revision`;
  const newestOf = sql(`${kind}.list-newest-of`, ofActor);
  const after = `select ${columns} from ${name} where revision > $1 order by revision, ${key} limit $2`;
  const listSince = sql(`${kind}.list-since`, after);
  const first = `select min(revision) as revision from ${name} where changed_at >= $1`;
  const firstSince = sql(`${kind}.find-first-since`, first);
  const reasons = `update ${active} set reason = null where actor = $1 and reason is not null`;
  const eraseReasons = sql(`${kind}.erase-reasons`, reasons);
  // The id of a token belongs to its owner too.
  const erasure = `update ${name} set reason = null, credential = null
     where actor = $1 and (reason is not null or credential is not null)`;
  const erase = sql(`${kind}.erase-revisions`, erasure);

  return {
    /** Lists the newest change of each key, where it is older than this time. */
    newestBefore: async (tx: Tx, time: Date): Promise<Change[]> => (await tx.query<Change>(newestBefore, [time])).rows,
    /** Lists the changes after a revision, oldest first. */
    since: async (db: Queryable, revision: bigint, limit: number): Promise<Change[]> =>
      (await db.query<Change>(listSince, [revision, limit])).rows,
    /** Finds the first revision since a time; null when there was none. */
    firstSince: async (db: Queryable, time: Date): Promise<bigint | null> =>
      (await db.query<{ revision: bigint | null }>(firstSince, [time])).rows[0]?.revision ?? null,
    /** Erases the reasons given by an actor. Returns those changes that were the newest of their key, without reasons. */
    async erase(tx: Tx, actor: string): Promise<Change[]> {
      await tx.query(eraseReasons, [actor]);
      const { rows } = await tx.query<Change>(newestOf, [actor]);
      await tx.query(erase, [actor]);
      return rows.map((change) => ({ ...change, reason: null }));
    },
  };
}
