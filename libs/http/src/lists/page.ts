import type { ListRange, TimePosition } from "@signalbox/storage";
import { z } from "zod";
import { integerParameter } from "../request/parameters.ts";
import { type HttpResponse, ok } from "../responses/http-response.ts";
import { cursorOf, positionOf } from "./cursor.ts";

/** One page of a list (CONTRACT §2). */
export interface Page<Item> {
  items: Item[];
  next_cursor?: string;
  has_more: boolean;
}

/** The schema of a list of `item`; `next_cursor` is absent on the last page. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    next_cursor: z.string().optional().describe("Opaque; send it as `cursor` to get the next page."),
    has_more: z.boolean().meta({ examples: [false] }),
  });
}

/**
 * The query parameters of a list. Both numbers are asked for at each request, since they are live properties. More than
 * the maximum is refused, never cut down.
 */
export function pageParameters(limits: { readonly maxPageSize: () => number; readonly pageSize: () => number }) {
  return {
    limit: integerParameter({ min: 1, max: limits.maxPageSize })
      .default(() => Math.min(limits.pageSize(), limits.maxPageSize()))
      .describe("Items on the page."),
    cursor: z.string().min(1).max(2048).optional().describe("`next_cursor` of the page before."),
  };
}

/** The values of `pageParameters`. */
interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Most rows are listed by when they were made. */
interface Created {
  readonly createdAt: Date;
  readonly id: string;
}

export const positionByCreation = ({ createdAt, id }: Created): TimePosition => ({ at: createdAt, id });

/**
 * Answers with one page of a list that is ordered by time, newest first. `read` is asked for one row more than the page
 * has, which only says that there is more. @throws AppError `invalid_request` for a cursor that we did not write.
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

/** The range of a list that is at hand as a whole, the first in time first; ids decide between equal times. */
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
