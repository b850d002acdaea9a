import type { RequestListener } from "node:http";
import type { ErrorResponses } from "@signalbox/runtime";
import { refuse } from "../edge/refuse.ts";

/** A listener that answers 503 until it is opened, and is `listener` from then on. */
export function whileStarting(
  listener: RequestListener,
  errorResponse: ErrorResponses,
): { listener: RequestListener; open: () => void } {
  let current: RequestListener = (request, response) => {
    const headers = { "retry-after": "1" };
    const refusal = { status: 503, code: "unavailable", message: "Signalbox is starting.", headers } as const;
    refuse(request, response, errorResponse, refusal);
  };
  return {
    listener: (request, response) => current(request, response),
    open: () => {
      current = listener;
    },
  };
}
