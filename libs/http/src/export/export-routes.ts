import type { ListRange } from "@signalbox/storage";
import { z } from "zod";
import { listPage, pageOf, type positionByCreation } from "../lists/pagination.ts";
import { createRoutes, type Routes } from "../routes/create-routes.ts";

/** One kind of row that a service exports for an account. */
export interface Exported<Row> {
  /** The schema of an item. It lists the exported members: never a secret. */
  readonly item: z.ZodType;
  /** Reads the account's rows of the range, newest first. */
  readonly list: (accountId: string, range: ListRange) => Promise<readonly Row[]>;
  readonly view: (row: Row) => unknown;
}

/** Items per page. A page of the largest items still has only a few megabytes. */
const pageSize = 100;

/** Returns the export path of a service on its internal listener. */
export function exportPathOf(accountId: string, cursor?: string): string {
  const query = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`;
  return `/internal/accounts/${encodeURIComponent(accountId)}/export${query}`;
}

/**
 * Creates the route by which the account service reads this service's data of an account, page by page. For the
 * internal listener.
 */
export function exportRoutes<Row extends Parameters<typeof positionByCreation>[0]>({
  item,
  list,
  view,
}: Exported<Row>): Routes {
  const routes = createRoutes();
  routes.get("/internal/accounts/:account_id/export", {
    summary: "Data of an account in this service",
    auth: "anonymous",
    query: z.object({ cursor: z.string().min(1).max(2048).optional() }),
    responses: { 200: pageOf(item) },
    rateLimit: "none",
    handle: ({ params, query: { cursor } }) =>
      listPage({ limit: pageSize, cursor }, (range) => list(params.account_id, range), view),
  });
  return routes;
}

/** The schema of a page as the account service receives it. */
export const ExportPage = pageOf(z.unknown());
