/** A position in a list that is ordered by time, newest first, then by id. */
export interface TimePosition {
  readonly at: Date;
  readonly id: string;
  /** The value of another column, in a list that is ordered by it. */
  readonly key?: string | number;
}

/** The part of a list to read: up to `limit` rows after a position, or from the beginning. */
export interface ListRange {
  readonly after: TimePosition | null;
  readonly limit: number;
}

/** Later than any stored time, so that one statement serves the first page and the others. */
const endOfTime = new Date("9999-12-31T23:59:59.999Z");

/**
 * The end of a select that lists newest first: `where account_id = $1 and ${newestFirst(2)}`, with `rangeValues(range)`
 * as the values from `$2` on.
 */
export function newestFirst(firstPlace: number, time = "created_at"): string {
  const [at, id, limit] = [0, 1, 2].map((place) => `$${firstPlace + place}`);
  return `(${time}, id) < (${at}, ${id}) order by ${time} desc, id desc limit ${limit}`;
}

/** Builds a select over many parents with the ids `$1`; `rowsOfOne` selects the rows of `parent.id`. */
export const ofEachParent = (rowsOfOne: string): string =>
  `select row.* from unnest($1::text[]) as parent (id) cross join lateral (${rowsOfOne}) as row`;

/** The three values of `newestFirst`. */
export function rangeValues({ after, limit }: ListRange): [Date, string, number] {
  return [after?.at ?? endOfTime, after?.id ?? "", limit];
}

/** The same for Prisma's `findMany`: the rows that match `where` in the range, newest first. */
export function newestFirstOf<Where extends object>(where: Where, { after, limit }: ListRange) {
  const later = after && { OR: [{ createdAt: { lt: after.at } }, { createdAt: after.at, id: { lt: after.id } }] };
  return {
    where: { AND: [where, later ?? {}] },
    orderBy: [{ createdAt: "desc" as const }, { id: "desc" as const }],
    take: limit,
  };
}

/** Builds the pattern of `like` for texts that contain this one as it is written. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, "\\$&")}%`;
