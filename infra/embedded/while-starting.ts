import type { RequestListener } from "node:http";
import { refuse } from "../edge/refuse.ts";

/** A listener that answers 503 until it is opened, and is `listener` from then on. */
export function whileStarting(listener: RequestListener): { listener: RequestListener; open: () => void } {
  let current: RequestListener = (request, response) => {
    const headers = { "retry-after": "1" };
    refuse(request, response, { status: 503, code: "unavailable", message: "Signalbox is starting.", headers });
  };
  return {
    listener: (request, response) => current(request, response),
    open: () => {
      current = listener;
    },
  };
}
