import { isGone, type Pool, sql } from "@signalbox/storage";

const register = sql("queue.register", "insert into delivery_instances (id) values ($1) on conflict do nothing");
const adopt = sql(
  "queue.adopt",
  `with former as (delete from delivery_instances where id = $1), present as (
     insert into delivery_instances (id) values ($2) on conflict do nothing)
   update delivery_queue set leased_by = $2 where leased_by = $1`,
);
const findGone = sql(
  "queue.find-gone",
  `select id from delivery_instances where id <> $1 and ${isGone("id")} limit 16`,
);
const takeOver = sql(
  "queue.take-over",
  `with gone as (delete from delivery_instances where id = any($1::int[]))
   update delivery_queue set due_at = statement_timestamp(), leased_by = null where leased_by = any($1::int[])`,
);

/** The instances that may have leases, and what becomes of the leases of those that have gone. */
export function createLeaseHolders(pool: Pool) {
  return {
    /** Says that this instance may have leases, before it has any. */
    register: async (instance: number): Promise<void> => void (await pool.query(register, [instance])),
    /** Keeps the leases of this instance, which goes by another name since its connection was lost. */
    adopt: async (former: number, instance: number): Promise<void> =>
      void (await pool.query(adopt, [former, instance])),

    /** The instances that no longer show that they live. */
    findGone: async (instance: number): Promise<number[]> =>
      (await pool.query<{ id: number }>(findGone, [instance])).rows.map(({ id }) => id),
    /** Frees the leases of instances that have gone; answers how many. */
    takeOver: async (instances: readonly number[]): Promise<number> =>
      (await pool.query(takeOver, [instances])).rowCount,
  };
}

export type LeaseHolders = ReturnType<typeof createLeaseHolders>;
