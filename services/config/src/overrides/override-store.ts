import { type Pool, type Queryable, sql, type Tx } from "@signalbox/storage";

/** An override in force. Revisions count changes over all properties; the value is whatever JSON the property takes. */
export interface Override {
  readonly name: string;
  readonly value: unknown;
  readonly revision: bigint;
  readonly actor: string;
  readonly reason: string | null;
  readonly changedAt: Date;
}

/** One change: an override set, or (with `set` false) removed. */
export interface Change extends Override {
  readonly set: boolean;
}

const listOverrides = sql(
  "overrides.list",
  `select name, value, revision, actor, reason, changed_at as "changedAt" from property_overrides order by name`,
);
const findOverride = sql(
  "overrides.find",
  `select name, value, revision, actor, reason, changed_at as "changedAt" from property_overrides where name = $1`,
);
const nextRevision = sql(
  "overrides.next-revision",
  "update revision_counter set revision = revision + 1 returning revision",
);
const lastRevision = sql("overrides.last-revision", "select revision from revision_counter");
const putOverride = sql(
  "overrides.put",
  `insert into property_overrides (name, value, revision, actor, reason, changed_at) values ($1, $2::jsonb, $3, $4, $5, $6)
   on conflict (name) do update set value = excluded.value, revision = excluded.revision, actor = excluded.actor,
     reason = excluded.reason, changed_at = excluded.changed_at`,
);
const deleteOverride = sql("overrides.delete", "delete from property_overrides where name = $1");
const addRevision = sql(
  "overrides.add-revision",
  `insert into property_revisions (revision, name, set, value, actor, reason, changed_at)
   values ($1, $2, $3, $4::jsonb, $5, $6, $7)`,
);

/** The overrides in PostgreSQL. Writes take the transaction that also carries their event. */
export function createOverrideStore(pool: Pool) {
  return {
    list: async (): Promise<Override[]> => (await pool.query<Override>(listOverrides)).rows,
    find: async (name: string, from: Queryable = pool): Promise<Override | null> =>
      (await from.query<Override>(findOverride, [name])).rows[0] ?? null,
    /** The revision of the newest change; 0 before any. */
    revision: async (): Promise<bigint> =>
      (await pool.query<{ revision: bigint }>(lastRevision)).rows[0]?.revision ?? 0n,
    /** Takes the next revision, and with it the lock that makes all changes one after the other. */
    nextRevision: async (tx: Tx): Promise<bigint> => {
      const { rows } = await tx.query<{ revision: bigint }>(nextRevision);
      if (rows[0] === undefined) throw new Error("the revision counter has no row: was the database migrated?");
      return rows[0].revision;
    },
    save: async (tx: Tx, change: Change): Promise<void> => {
      const { name, set, revision, actor, reason, changedAt } = change;
      const value = set ? JSON.stringify(change.value) : null;
      if (set) await tx.query(putOverride, [name, value, revision, actor, reason, changedAt]);
      else await tx.query(deleteOverride, [name]);
      await tx.query(addRevision, [revision, name, set, value, actor, reason, changedAt]);
    },
  };
}

export type OverrideStore = ReturnType<typeof createOverrideStore>;
