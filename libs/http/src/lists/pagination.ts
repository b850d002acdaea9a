import { hash } from "node:crypto";
import { AppError } from "@signalbox/core";
import type { ListRange, TimePosition } from "@signalbox/storage";
import { z } from "zod";
import { integerParameter } from "../request/parameters.ts";
import { type HttpResponse, ok } from "../routes/http-response.ts";

/** The schema of a page of a list (CONTRACT §2); `next_cursor` is absent on the last page. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item).describe("The items of the page."),
    next_cursor: z.string().optional().describe("Opaque; send it as `cursor` to get the next page."),
    has_more: z
      .boolean()
      .meta({ examples: [false] })
      .describe("True when another page follows."),
  });
}

/**
 * Declares the query parameters of a list. The numbers are live properties and read at each request. A size above the
 * maximum is refused, never reduced.
 */
export function pageParameters(limits: { readonly maxPageSize: () => number; readonly pageSize: () => number }) {
  return {
    limit: integerParameter({ min: 1, max: limits.maxPageSize })
      .default(() => Math.min(limits.pageSize(), limits.maxPageSize()))
      .meta({
        description: "Items on the page.",
        override: ({ jsonSchema }) => {
          const size = limits.pageSize();
          if (typeof size === "number") jsonSchema.default = Math.min(size, limits.maxPageSize());
        },
      }),
    cursor: z.string().min(1).max(2048).optional().describe("`next_cursor` of the previous page."),
  };
}

/** The values of `pageParameters`. */
interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** See `cursorMark`. */
  readonly mark?: string | undefined;
}

/** Rows that are listed by creation time, as most are. */
interface Created {
  readonly createdAt: Date;
  readonly id: string;
}

export const positionByCreation = ({ createdAt, id }: Created): TimePosition => ({ at: createdAt, id });

/**
 * Answers with one page of a list that is ordered by time, newest first. `read` gets a limit one above the page size,
 * to find out whether more follows. @throws AppError `invalid_request` for a cursor that `cursorOf` did not write.
 */
export function listPage<Row extends Created, Item>(
  query: PageQuery,
  read: (range: ListRange) => Promise<readonly Row[]>,
  view: (row: Row) => Item,
): Promise<HttpResponse>;
export function listPage<Row, Item>(
  query: PageQuery,
  read: (range: ListRange) => Promise<readonly Row[]>,
  view: (row: Row) => Item,
  position: (row: Row) => TimePosition,
): Promise<HttpResponse>;
export async function listPage(
  { limit, cursor, mark }: PageQuery,
  read: (range: ListRange) => Promise<readonly Created[]>,
  view: (row: Created) => unknown,
  position = positionByCreation,
): Promise<HttpResponse> {
  const rows = await read({ after: positionOf(cursor, mark), limit: limit + 1 });
  const items = rows.slice(0, limit).map(view);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return ok(last ? { items, next_cursor: cursorOf(position(last), mark), has_more: true } : { items, has_more: false });
}

/** Selects a range of a list in memory, the earliest first; ids decide between equal times. */
export function rangeOf<Row>(
  rows: readonly Row[],
  { after, limit }: ListRange,
  position: (row: Row) => TimePosition,
): Row[] {
  const placed = rows.map((row) => ({ row, place: position(row) })).toSorted((a, b) => compare(a.place, b.place));
  const rest = after === null ? placed : placed.filter(({ place }) => compare(place, after) > 0);
  return rest.slice(0, limit).map(({ row }) => row);
}

function compare(one: TimePosition, other: TimePosition): number {
  const apart = one.at.getTime() - other.at.getTime();
  if (apart !== 0 || one.id === other.id) return apart;
  return one.id < other.id ? -1 : 1;
}

/**
 * Ids and names have plain characters, those of publishers colons too; others in a forged cursor, such as U+0000, would be
 * refused by the database.
 */
const place = [z.iso.datetime(), z.string().regex(/^[\w.:-]{1,128}$/)] as const;
const markOf = z.string().regex(/^[\w-]{8}$/);
const keyOf = z.union([
  z.number(),
  z
    .string()
    .max(1_000)
    .refine((text) => text.isWellFormed() && !text.includes("\0")),
]);
const Position = z.union([z.tuple(place), z.tuple([...place, markOf]), z.tuple([...place, markOf, keyOf])]);

/** Returns the mark of a list with its filters and order, which its cursors carry: no other list takes them. */
export function cursorMark(list: string, filter: object): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const named = given.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return hash("sha256", JSON.stringify([list, named]), "base64url").slice(0, 8);
}

/** Encodes a position in a list as an opaque cursor, for REST and GraphQL alike. */
export function cursorOf({ at, id, key }: TimePosition, mark?: string): string {
  const position = [at.toISOString(), id, ...(mark === undefined ? [] : [mark]), ...(key === undefined ? [] : [key])];
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/**
 * Decodes a cursor; null for the beginning. Cursors from before there were marks have none.
 * @throws AppError `invalid_request` for a cursor that `cursorOf` did not write, and for one with another mark
 */
export function positionOf(cursor: string | null | undefined, mark?: string): TimePosition | null {
  if (cursor === null || cursor === undefined) return null;
  const parsed = Position.safeParse(decoded(cursor));
  if (!parsed.success) throw invalidCursor();
  const [at, id, given, key] = parsed.data;
  if (given !== undefined && given !== mark) {
    throw refusedCursor(
      "The cursor belongs to another list, or to other filters.",
      "Use it with the query that returned it.",
    );
  }
  return { at: new Date(at), id, ...(key !== undefined && { key }) };
}

/**
 * Returns the number at a place of a list that is ordered by one, such as a revision; null for its beginning.
 * @throws AppError `invalid_request` for the cursor of another list
 */
export function numberAt(place: Pick<TimePosition, "id"> | null): bigint | null {
  if (place === null) return null;
  if (!/^\d{1,18}$/.test(place.id)) throw invalidCursor();
  return BigInt(place.id);
}

/** Creates the refusal of a cursor that does not fit. */
export const invalidCursor = (): AppError =>
  refusedCursor("The cursor is not valid.", "Use next_cursor of an earlier page unchanged.");

const refusedCursor = (problem: string, message: string): AppError =>
  new AppError("invalid_request", problem, { details: [{ field: "cursor", code: "invalid_cursor", message }] });

function decoded(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}
