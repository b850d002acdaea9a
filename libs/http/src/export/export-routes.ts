import { z } from "zod";
import { type Page, pageFrom, pageOf } from "../lists/page.ts";
import { ok } from "../responses/http-response.ts";
import { createRoutes, type Routes } from "../routes/create-routes.ts";

/** What a service holds for an account, as it tells the export of that account. */
export interface Exported<Row> {
  /** The schema of an item. It names what goes out: never a secret. */
  readonly item: z.ZodType;
  /** Rows of the account that follow `cursor`: up to one more than `limit`, which tells that there are more. */
  readonly list: (accountId: string, options: { cursor: string | undefined; limit: number }) => Promise<readonly Row[]>;
  readonly view: (row: Row) => unknown;
  readonly cursorOf: (row: Row) => string;
}

/** Items of a page. Of the largest items they are still a few megabytes. */
const pageSize = 100;

/** Where a service answers on its internal listener. */
export function exportPathOf(accountId: string, cursor?: string): string {
  const query = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`;
  return `/internal/accounts/${encodeURIComponent(accountId)}/export${query}`;
}

/** The route by which the account service asks for what this service holds, page by page. For the internal listener. */
export function exportRoutes<Row>({ item, list, view, cursorOf }: Exported<Row>): Routes {
  const routes = createRoutes();
  routes.get("/internal/accounts/:account_id/export", {
    summary: "What this service holds for an account",
    auth: "anonymous",
    query: z.object({ cursor: z.string().min(1).max(2048).optional() }),
    responses: { 200: pageOf(item) },
    rateLimit: "none",
    async handle({ params, query }) {
      const rows = await list(params.account_id, { cursor: query.cursor, limit: pageSize });
      return ok(pageFrom(rows, pageSize, view, cursorOf) satisfies Page<unknown>);
    },
  });
  return routes;
}

/** A page as it arrives at the account service. */
export const ExportPage = pageOf(z.unknown());
