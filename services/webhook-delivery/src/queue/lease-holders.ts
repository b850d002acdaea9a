import { isGone, type Pool, sql } from "@signalbox/storage";

const register = sql("queue.register", "insert into delivery_instances (id) values ($1) on conflict do nothing");
const adopt = sql(
  "queue.adopt",
  `with former as (delete from delivery_instances where id = $1), present as (
     insert into delivery_instances (id) values ($2) on conflict do nothing)
   update delivery_queue set leased_by = $2 where leased_by = $1`,
);
const findDead = sql(
  "queue.find-dead",
  `select id from delivery_instances where id <> $1 and ${isGone("id")} limit 16`,
);
const takeOver = sql(
  "queue.take-over",
  `with gone as (delete from delivery_instances where id = any($1::int[]))
   update delivery_queue set due_at = statement_timestamp(), leased_by = null where leased_by = any($1::int[])`,
);

/** Creates the register of instances that may hold leases, which also takes over the leases of dead ones. */
export function createLeaseHolders(pool: Pool) {
  return {
    /** Registers this instance before it holds a lease. */
    register: async (instance: number): Promise<void> => void (await pool.query(register, [instance])),
    /** Moves the leases of this instance to its new id, after its connection was lost. */
    adopt: async (former: number, instance: number): Promise<void> =>
      void (await pool.query(adopt, [former, instance])),

    /** Returns the instances without a sign of life. */
    findDead: async (instance: number): Promise<number[]> =>
      (await pool.query<{ id: number }>(findDead, [instance])).rows.map(({ id }) => id),
    /** Frees the leases of dead instances; returns their number. */
    takeOver: async (instances: readonly number[]): Promise<number> =>
      (await pool.query(takeOver, [instances])).rowCount,
  };
}

export type LeaseHolders = ReturnType<typeof createLeaseHolders>;
