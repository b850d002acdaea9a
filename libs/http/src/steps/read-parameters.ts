import { AppError } from "@signalbox/core";
import type { Step } from "../app/exchange.ts";
import { parseQuery, queryTextOf } from "../request/query.ts";
import { isBadText } from "../request/text-flaws.ts";

/** Path parameters that do not fit name nothing we could have: 404. */
export const readParams: Step = (exchange) => {
  const { params } = exchange;
  for (const value of Object.values(params as Record<string, string>)) {
    if (isBadText(value)) throw notFound();
  }
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
