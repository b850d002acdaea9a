import type { Step } from "../app/exchange.ts";

/** Calls the handler with everything parsed. */
export const handle: Step = (exchange) => exchange.route.spec.handle(exchange as never);
