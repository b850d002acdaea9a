import { type Pool, sql, type Tx, table } from "@signalbox/storage";

/** An override in force. Revisions count changes over all properties; the value is whatever JSON the property takes. */
export interface Override {
  readonly name: string;
  readonly value: unknown;
  readonly revision: bigint;
  readonly actor: string;
  readonly reason: string | null;
  readonly changedAt: Date;
}

/** One change: an override set, or (with `set` false and a value of null) removed. */
export interface Change extends Override {
  readonly set: boolean;
}

export type OverrideStore = ReturnType<typeof createOverrideStore>;

const overrideColumns = {
  name: "text",
  value: "jsonb",
  revision: "int8",
  actor: "text",
  reason: "text",
  changedAt: "timestamptz",
} as const;
const overrides = table("property_overrides", overrideColumns);
const revisions = table("property_revisions", { ...overrideColumns, set: "bool" });

const listOverrides = sql("overrides.list", `select ${overrides.columns} from property_overrides order by name`);
const findOverride = sql("overrides.find", `select ${overrides.columns} from property_overrides where name = $1`);
const removeOverride = sql("overrides.remove", "delete from property_overrides where name = $1");
const nextRevision = sql(
  "overrides.next-revision",
  "update revision_counter set revision = revision + 1 returning revision",
);
const lockRevisions = sql("overrides.lock-revisions", "select 1 from revision_counter for update");

const newest = "(select distinct on (name) * from property_revisions order by name, revision desc) as newest";
const listNewestBefore = sql(
  "overrides.list-newest-before",
  `select ${revisions.columns} from ${newest} where changed_at <= $1 order by revision`,
);
/** The newest change of each property, where this actor gave a reason for it. */
const listNewestOf = sql(
  "overrides.list-newest-of",
  `select ${revisions.columns} from ${newest}
   where actor = $1 and reason is not null order by revision`,
);
const eraseReasons = ["property_overrides", "property_revisions"].map((name) =>
  sql(`overrides.erase-reasons ${name}`, `update ${name} set reason = null where actor = $1 and reason is not null`),
);

/** The overrides in PostgreSQL. Writes take the transaction that also carries their event. */
export function createOverrideStore(pool: Pool) {
  return {
    list: async (): Promise<Override[]> => (await pool.query<Override>(listOverrides)).rows,
    /** The values in force, with the changes of this transaction. */
    valuesIn: async (tx: Tx): Promise<ReadonlyMap<string, unknown>> => {
      const { rows } = await tx.query<Override>(listOverrides);
      return new Map(rows.map(({ name, value }) => [name, value]));
    },
    find: async (tx: Tx, name: string): Promise<Override | null> =>
      (await tx.query<Override>(findOverride, [name])).rows[0] ?? null,
    /** Takes the next revision, and with it the lock that makes all changes one after the other. */
    nextRevision: async (tx: Tx): Promise<bigint> => {
      const { rows } = await tx.query<{ revision: bigint }>(nextRevision);
      if (rows[0] === undefined) throw new Error("the revision counter has no row: was the database migrated?");
      return rows[0].revision;
    },
    /** Puts a change into force and keeps it among all that were ever made. */
    async save(tx: Tx, change: Change): Promise<void> {
      await tx.query(removeOverride, [change.name]);
      if (change.set) await overrides.insert(tx, change);
      await revisions.insert(tx, change);
    },
    /** Lists the newest change of each property that has stood since then, and holds up others until the transaction ends. */
    async newestBefore(tx: Tx, time: Date): Promise<Change[]> {
      await tx.query(lockRevisions);
      return (await tx.query<Change>(listNewestBefore, [time])).rows;
    },
    /** Erases the reasons that an actor gave. Answers the changes that were the newest of their property, without reasons. */
    async eraseReasonsOf(tx: Tx, actor: string): Promise<Change[]> {
      await tx.query(lockRevisions);
      const { rows } = await tx.query<Change>(listNewestOf, [actor]);
      for (const statement of eraseReasons) await tx.query(statement, [actor]);
      return rows.map((change) => ({ ...change, reason: null }));
    },
  };
}
