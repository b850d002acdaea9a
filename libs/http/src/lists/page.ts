import { AppError } from "@signalbox/core";
import type { ListRange, TimePosition } from "@signalbox/storage";
import { z } from "zod";
import { integerParameter } from "../request/parameters.ts";
import { type HttpResponse, ok } from "../responses/http-response.ts";

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
    cursor: z.string().min(1).max(2048).optional().describe("`next_cursor` of the page before."),
  };
}

/** The values of `pageParameters`. */
interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
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
  { limit, cursor }: PageQuery,
  read: (range: ListRange) => Promise<readonly Created[]>,
  view: (row: Created) => unknown,
  position = positionByCreation,
): Promise<HttpResponse> {
  const rows = await read({ after: positionOf(cursor), limit: limit + 1 });
  const items = rows.slice(0, limit).map(view);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return ok(last ? { items, next_cursor: cursorOf(position(last)), has_more: true } : { items, has_more: false });
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
 * Our ids and names have plain characters; others in a forged cursor, such as U+0000, would be refused by the database.
 */
const Position = z.tuple([z.iso.datetime(), z.string().regex(/^[\w.-]{1,128}$/)]);

/** Encodes a position in a list as an opaque cursor, for REST and GraphQL alike. */
export function cursorOf({ at, id }: TimePosition): string {
  return Buffer.from(JSON.stringify([at.toISOString(), id])).toString("base64url");
}

/**
 * Decodes a cursor; null for the beginning. @throws AppError `invalid_request` for a cursor that `cursorOf` did not
 * write.
 */
export function positionOf(cursor: string | null | undefined): TimePosition | null {
  if (cursor === null || cursor === undefined) return null;
  const parsed = Position.safeParse(decoded(cursor));
  if (parsed.success) return { at: new Date(parsed.data[0]), id: parsed.data[1] };
  throw new AppError("invalid_request", "The cursor is not valid.", {
    details: [{ field: "cursor", code: "invalid_cursor", message: "Use next_cursor of an earlier page unchanged." }],
  });
}

function decoded(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}
