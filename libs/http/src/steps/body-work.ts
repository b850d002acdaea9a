import { type ErrorCode, KiB, threadProcessorMs } from "@signalbox/core";
import type { Exchange } from "../exchange/exchange.ts";
import { BodyTurns } from "../limits/body-turns.ts";
import { admitWork, chargeBytes, chargeProcessorTime, turnOf } from "../limits/work-limits.ts";
import { type JsonBody, jsonBodySlices, parseJsonBody } from "../request/json-body.ts";
import { readBody } from "../request/read-body.ts";

/** Smaller bodies take less than the rest of their requests, which the limits of requests count. */
const chargedBytesMin = 4 * KiB;
/** A body of this size takes a millisecond or two. */
const largeBytesMin = 64 * KiB;

/** The event loop of this process, which all of its services share. */
const turns = new BodyTurns();

/** Reads a body within the caller's budget, and charges what came of it. @throws AppError `rate_limited` */
export async function readCharged(exchange: Exchange, maxBytes: number, code: ErrorCode): Promise<Buffer> {
  const { edge, request } = exchange;
  const work = edge.rateLimits?.work;
  if (!work) return readBody(request, maxBytes, code);
  admitWork(work, exchange);
  const before = request.socket.bytesRead;
  let bytes: number | null = null;
  try {
    const content = await readBody(request, maxBytes, code);
    bytes = content.length;
    return content;
  } finally {
    chargeBytes(work, exchange, bytes ?? request.socket.bytesRead - before);
  }
}

/** Work on a body: done at once, or in a turn of the caller. */
export type Slice = <Result>(work: () => Result) => Result | Promise<Result>;

/** Returns how the work on a body of this size is done, and charged. */
export function sliceOf(exchange: Exchange, bytes: number): Slice {
  const limits = exchange.edge.rateLimits?.work;
  if (!limits || bytes < chargedBytesMin) return (work) => work();
  const charged: Slice = (work) => {
    const startedMs = threadProcessorMs();
    try {
      return work();
    } finally {
      chargeProcessorTime(limits, exchange, threadProcessorMs() - startedMs);
    }
  };
  if (bytes < largeBytesMin) return charged;
  return async (work) => {
    await turns.turn(turnOf(exchange));
    // Bodies that wait have been admitted together.
    admitWork(limits, exchange);
    return charged(work);
  };
}

/** Parses JSON in slices. @throws AppError as `parseJsonBody`, and `rate_limited` */
export async function parseInSlices(content: Buffer, slice: Slice): Promise<JsonBody> {
  if (content.length < largeBytesMin) return slice(() => parseJsonBody(content));
  const slices = jsonBodySlices(content);
  for (;;) {
    const { done, value } = await slice(() => slices.next());
    if (done) return value;
  }
}
