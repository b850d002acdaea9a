import { type Queryable, sql } from "./prepared-statement.ts";
import type { RotatingValue } from "./rotation.ts";

/**
 * Declares the write of a rotation, for a table with `id` and `expires_at`: of all values of an owner those given stay,
 * each until its end, and the others are deleted.
 */
export function keepValues(table: string, owner: string) {
  const keep = sql(
    `${table}.keep-values`,
    `with kept as (select * from unnest($2::text[], $3::timestamptz[]) as kept (id, ends_at)),
     gone as (delete from ${table} where ${owner} = $1 and id <> all($2))
     update ${table} set expires_at = ends_at from kept where ${owner} = $1 and ${table}.id = kept.id`,
  );
  return async (db: Queryable, ownerId: string, values: readonly RotatingValue[]): Promise<void> => {
    await db.query(keep, [ownerId, values.map(({ id }) => id), values.map(({ endsAt }) => endsAt)]);
  };
}
