import { type Tx, writeRow } from "@signalbox/storage";
import type { Exchange, Step } from "../exchange/exchange.ts";
import { ifMatch } from "../responses/etag.ts";
import { type HttpResponse, refused } from "../routes/http-response.ts";
import type { Idempotency } from "../routes/idempotency.ts";
import type { Route, RouteCreate, RouteWrite } from "../routes/route-spec.ts";

type Write = RouteWrite<Exchange, unknown, unknown>;
type Create = RouteCreate<Exchange, unknown, unknown>;

/** Creates the last stage: the route's own handler, with parsed input. */
export function answerOf({ handle, write, create }: Route["spec"]): Step {
  if (write) return (exchange) => runWrite(exchange, write as unknown as Write);
  if (create) return (exchange) => runCreate(exchange, create as unknown as Create);
  return (exchange) => handle?.(exchange as never) ?? null;
}

function runWrite(
  exchange: Exchange,
  { prepare, read, find, etag, missing, change, answer }: Write,
): Promise<HttpResponse> {
  return answeringRefusals(async () => {
    await prepare?.(exchange);
    const written = await writeRow(exchange.pool, {
      key: exchange.writer,
      read: read && (() => read(exchange)),
      lock: (tx) => find(tx, exchange),
      async change(tx, row) {
        if (etag) ifMatch(exchange, etag(row));
        return completed(exchange, tx, answer(await change(tx, row, exchange), exchange));
      },
    });
    return written?.result ?? refused(404, "not_found", { ...(missing !== undefined && { message: missing }) });
  });
}

function runCreate(exchange: Exchange, { prepare, run, answer }: Create): Promise<HttpResponse> {
  return answeringRefusals(async () => {
    const prepared = await prepare?.(exchange);
    return exchange.inTransaction(async (tx) =>
      completed(exchange, tx, answer(await run(tx, exchange, prepared), exchange)),
    );
  });
}

/** Ends a transaction whose answer is a refusal: what was written on the way to it is rolled back. */
class RefusedAnswer extends Error {
  readonly response: HttpResponse;

  constructor(response: HttpResponse) {
    super("the operation was refused");
    this.response = response;
  }
}

/**
 * Stores the answer of a success for `Idempotency-Key`, in the transaction of its effect. A refusal undoes the
 * transaction and stores nothing: the client may fix the cause and send the same request again.
 */
export async function completed(
  { idempotency }: { readonly idempotency: Idempotency },
  tx: Tx,
  response: HttpResponse,
): Promise<HttpResponse> {
  if (response.status >= 400) throw new RefusedAnswer(response);
  await idempotency.complete(tx, response);
  return response;
}

/** Answers with the refusal that `completed` undid a transaction for. */
export async function answeringRefusals(work: () => Promise<HttpResponse>): Promise<HttpResponse> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RefusedAnswer) return error.response;
    throw error;
  }
}
