import { type Tx, writeRow } from "@signalbox/storage";
import type { Exchange, Step } from "../app/exchange.ts";
import { ifMatch } from "../responses/conditional.ts";
import { type HttpResponse, refused } from "../responses/http-response.ts";
import type { Route, RouteCreate, RouteWrite } from "../routes/route-spec.ts";

type Write = RouteWrite<Exchange, unknown, unknown>;
type Create = RouteCreate<Exchange, unknown, unknown>;

/** Creates the last stage: the route's own handler, with parsed input. */
export function answerOf({ handle, write, create }: Route["spec"]): Step {
  if (write) return (exchange) => runWrite(exchange, write as unknown as Write);
  if (create) return (exchange) => runCreate(exchange, create as unknown as Create);
  return (exchange) => handle?.(exchange as never) ?? null;
}

async function runWrite(
  exchange: Exchange,
  { prepare, read, find, etag, missing, change, answer }: Write,
): Promise<HttpResponse> {
  await prepare?.(exchange);
  const written = await writeRow(exchange.pool, {
    key: exchange.writer,
    read: read && (() => read(exchange)),
    lock: (tx) => find(tx, exchange),
    async change(tx, row) {
      if (etag) ifMatch(exchange, etag(row));
      return stored(exchange, tx, answer(await change(tx, row, exchange), exchange));
    },
  });
  return written ? written.result : refused(404, "not_found", { ...(missing !== undefined && { message: missing }) });
}

async function runCreate(exchange: Exchange, { prepare, run, answer }: Create): Promise<HttpResponse> {
  const prepared = await prepare?.(exchange);
  return exchange.inTransaction(async (tx) =>
    stored(exchange, tx, answer(await run(tx, exchange, prepared), exchange)),
  );
}

/** Stores a success only: after a refusal the client may fix the cause and send the same request again. */
async function stored({ idempotency }: Exchange, tx: Tx, response: HttpResponse): Promise<HttpResponse> {
  if (response.status < 300) await idempotency.complete(tx, response);
  return response;
}
