import { z } from "zod";
import { integerParameter } from "../request/parameters.ts";

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
    has_more: z.boolean(),
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

/**
 * Makes a page of rows that were asked for with one more than `limit`: the extra row only says that there is more.
 * `cursorOf` gives the position of the last item shown.
 */
export function pageFrom<Row, Item>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => Item,
  cursorOf: (row: Row) => string,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  if (rows.length <= limit || last === undefined) return { items: shown.map(view), has_more: false };
  return { items: shown.map(view), next_cursor: cursorOf(last), has_more: true };
}
