import { type Queryable, sql } from "./prepared-statement.ts";

/** A secret, a key or an address with several live values. The end of the newest is null unless it was made to end. */
export interface Ending {
  readonly endsAt: Date | null;
}

/** One of these values in a list of its owner, without its secret part. */
export interface RotatingValue extends Ending {
  readonly id: string;
  readonly createdAt: Date;
}

type Rotation<Value> =
  /** `older` stay valid beside the new value, newest first, each until its end. */
  | { readonly outcome: "rotated"; readonly older: readonly Value[] }
  | { readonly outcome: "limit-reached"; readonly max: number };

interface RotationTerms {
  readonly overlapMs: number;
  readonly now: Date;
}

/** Returns true until the end of a value has come. */
export const isLive = ({ endsAt }: Ending, now: Date): boolean => endsAt === null || endsAt > now;

/**
 * Judges a rotation of `values`, newest first. At most `max` are live after it, the new one included. One without an
 * overlap leaves no older value and is never refused, wherever a limit was lowered to.
 */
export function rotate<Value extends Ending>(
  values: readonly Value[],
  { max, ...terms }: RotationTerms & { readonly max: number },
): Rotation<Value> {
  const older = olderAfter(values, terms);
  return older.length === 0 || older.length < max ? { outcome: "rotated", older } : { outcome: "limit-reached", max };
}

/**
 * Returns the older values after a rotation of `values`, newest first. The newest ends with the overlap, or earlier if
 * it would have; those before it keep their ends. Without an overlap all end at once: something may have leaked.
 */
export function olderAfter<Value extends Ending>(values: readonly Value[], { overlapMs, now }: RotationTerms): Value[] {
  if (overlapMs === 0) return [];
  const end = new Date(now.getTime() + overlapMs);
  const live = values.filter((value) => isLive(value, now));
  // Clocks differ, so a value without an end may stand behind one that was made before it.
  const isNewest = ({ endsAt }: Ending, at: number) => at === 0 || endsAt === null;
  return live.map((value, at) => (isNewest(value, at) && isLive(value, end) ? { ...value, endsAt: end } : value));
}

/** Shows a value to its owner. */
export const viewValue = ({ id, createdAt, endsAt }: RotatingValue) => ({
  id,
  created_at: createdAt.toISOString(),
  ends_at: endsAt?.toISOString() ?? null,
});

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
