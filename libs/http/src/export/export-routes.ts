import type { ListRange } from "@signalbox/storage";
import { z } from "zod";
import { listPage, pageOf, type positionByCreation } from "../lists/page.ts";
import { createRoutes, type Routes } from "../routes/create-routes.ts";

/** One page of what a service holds for an account, for the export of that account. */
export interface Exported<Row> {
  /** The schema of an item. It names what goes out: never a secret. */
  readonly item: z.ZodType;
  /** Reads the account's rows of the range, newest first. */
  readonly list: (accountId: string, range: ListRange) => Promise<readonly Row[]>;
  readonly view: (row: Row) => unknown;
}

/** Items of a page. Of the largest items they are still a few megabytes. */
const pageSize = 100;

/** Where a service answers on its internal listener. */
export function exportPathOf(accountId: string, cursor?: string): string {
  const query = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`;
  return `/internal/accounts/${encodeURIComponent(accountId)}/export${query}`;
}

/** The route by which the account service asks for what this service holds, page by page. For the internal listener. */
export function exportRoutes<Row extends Parameters<typeof positionByCreation>[0]>({
  item,
  list,
  view,
}: Exported<Row>): Routes {
  const routes = createRoutes();
  routes.get("/internal/accounts/:account_id/export", {
    summary: "What this service holds for an account",
    auth: "anonymous",
    query: z.object({ cursor: z.string().min(1).max(2048).optional() }),
    responses: { 200: pageOf(item) },
    rateLimit: "none",
    handle: ({ params, query: { cursor } }) =>
      listPage({ limit: pageSize, cursor }, (range) => list(params.account_id, range), view),
  });
  return routes;
}

/** A page as it arrives at the account service. */
export const ExportPage = pageOf(z.unknown());
