import { type ErrorCode, FairQueue, KiB, threadProcessorMs } from "@signalbox/core";
import type { Exchange } from "../exchange/exchange.ts";
import { admitWork, chargeBytes, chargeProcessorTime, turnOf } from "../limits/work-limits.ts";
import { type JsonBody, jsonBodySlices, parseJsonBody } from "../request/json-body.ts";
import type { RawPlace } from "../request/json-scan.ts";
import { readBody } from "../request/read-body.ts";

/** Smaller bodies take less than the rest of their requests, which the limits of requests count. */
const chargedBytesMin = 4 * KiB;
/** A body of this size takes a millisecond or two. */
const largeBytesMin = 64 * KiB;

/**
 * Turns of the work for large bodies: one slice in each turn of the event loop, round the callers. Other requests are
 * served between two slices, however many large bodies one caller sends.
 */
export class BodyTurns {
  readonly #waiting = new FairQueue<() => void>();
  readonly #loop: (next: () => void) => void;
  #isAsked = false;

  constructor(loop: (next: () => void) => void = setImmediate) {
    this.#loop = loop;
  }

  /** Resolves in a turn of the caller. Whoever waits holds a body, so the limit of bodies bounds the queue. */
  turn(caller: string): Promise<void> {
    return new Promise((begin) => {
      this.#waiting.add(caller, begin);
      this.#ask();
    });
  }

  #ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.#loop(() => {
      this.#isAsked = false;
      this.#waiting.next()?.();
      if (this.#waiting.length > 0) this.#ask();
    });
  }
}

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
export async function parseInSlices(content: Buffer, slice: Slice, raw: RawPlace | null): Promise<JsonBody> {
  if (content.length < largeBytesMin) return slice(() => parseJsonBody(content, raw));
  const slices = jsonBodySlices(content, raw);
  for (;;) {
    const { done, value } = await slice(() => slices.next());
    if (done) return value;
  }
}
