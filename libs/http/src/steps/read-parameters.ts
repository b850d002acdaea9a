import { AppError } from "@signalbox/core";
import type { Step } from "../app/exchange.ts";
import { parseQuery, queryTextOf } from "../request/query.ts";
import { isBadText } from "../request/text-flaws.ts";

/** Path parameters that do not fit name nothing we could have: 404. */
export const readParams: Step = (exchange) => {
  const { params, request } = exchange;
  // Only percent-encoding can bring in what is no text.
  if (request.url?.includes("%") && Object.values(params as Record<string, string>).some(isBadText)) throw notFound();
  const schema = exchange.route.spec.params;
  if (!schema) return null;
  const result = schema.safeParse(params);
  if (!result.success) throw notFound();
  exchange.params = result.data;
  return null;
};

/** Query parameters, each declared and at most once. */
export const readQuery: Step = (exchange) => {
  exchange.query = parseQuery(queryTextOf(exchange.request.url ?? ""), exchange.route.spec.query);
  return null;
};

const notFound = () => new AppError("not_found", "There is nothing here.");
