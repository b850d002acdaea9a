import type { RequestListener } from "node:http";

/** A listener that answers 503 until it is opened, and is `listener` from then on. */
export function whileStarting(listener: RequestListener): { listener: RequestListener; open: () => void } {
  let current: RequestListener = (_request, response) => {
    const error = { code: "unavailable", message: "Signalbox is starting.", request_id: "" };
    response.writeHead(503, { "content-type": "application/json; charset=utf-8", "retry-after": "1" });
    response.end(JSON.stringify({ error }));
  };
  return {
    listener: (request, response) => current(request, response),
    open: () => {
      current = listener;
    },
  };
}
