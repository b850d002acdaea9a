import { Readable } from "node:stream";
import { seconds } from "@signalbox/core";
import type { FormattedExecutionResult } from "graphql";
import { graphErrorOf } from "../documents/graph-error.ts";
import type { OperationRequest } from "../documents/operation-request.ts";
import type { Live } from "./live.ts";
import type { LiveCaller, LiveCallers, Opening } from "./live-caller.ts";
import type { LiveStream } from "./live-stream.ts";

const pingMs = seconds(12);
/** Time for a client to take the end of its stream. */
const farewellMs = seconds(10);

/**
 * Subscribes for one event stream, by the protocol graphql-sse in its distinct connections mode. The id of an event is
 * its cursor, which returns as `Last-Event-ID`. @throws GraphQLError or AppError for a refused subscription
 */
export async function subscribeFor(
  live: Live,
  callers: LiveCallers,
  who: Opening,
  request: OperationRequest,
): Promise<Readable> {
  const caller: LiveCaller = callers.open("stream", who, {
    change: () => live.recheck(caller),
    end: (reason) => live.end(caller, reason),
  });
  try {
    const stream = await live.subscribe(request, caller);
    return new EventStream(stream, () => callers.close(caller));
  } catch (error) {
    callers.close(caller);
    throw error;
  }
}

/** Wraps the one result of a query or mutation, as JSON, in an event stream. */
export const eventsOf = (result: Buffer): Buffer => Buffer.from(`event: next\ndata: ${result}\n\n${complete}`);

const complete = "event: complete\ndata:\n\n";

/**
 * A comment with the cursor. The `id` without data is no event, but browsers keep it as their last event id, so that
 * one that is cut off before its first message misses nothing.
 */
const pingOf = (cursor: string): string => `: cursor ${cursor}\nid: ${cursor}\n\n`;

const nextOf = (result: FormattedExecutionResult, id?: string): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: next\ndata: ${JSON.stringify(result)}\n\n`;

/** Requests the next message only when the client has received the last one, so that a slow client is noticed. */
class EventStream extends Readable {
  readonly #stream: LiveStream;
  readonly #onEnd: () => void;
  readonly #timer: NodeJS.Timeout;
  #farewell: NodeJS.Timeout | undefined;
  #isReading = false;

  constructor(stream: LiveStream, onEnd: () => void) {
    super({ highWaterMark: 0 });
    this.#stream = stream;
    this.#onEnd = onEnd;
    // Confirms the subscription to the client: no header is sent before a byte of the body.
    this.push(pingOf(stream.cursor()));
    this.#timer = setInterval(() => {
      if (this.#isReading && this.readableLength === 0) this.push(pingOf(stream.cursor()));
    }, pingMs);
    void stream.over.then(() => this.#expectEnd());
  }

  /** A client that reads no more, such as one with a revoked key, would keep its connection for as long as it likes. */
  #expectEnd(): void {
    if (!this.destroyed) this.#farewell = setTimeout(() => this.destroy(), farewellMs);
  }

  override _read(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    void this.#next();
  }

  async #next(): Promise<void> {
    try {
      const { done, value } = await this.#stream.next();
      this.#isReading = false;
      if (this.destroyed) return;
      if (!done && value) return void this.push(nextOf(value.result, value.cursor));
    } catch (error) {
      if (this.destroyed) return;
      this.push(nextOf({ errors: [graphErrorOf(error).toJSON()] }));
    }
    clearInterval(this.#timer);
    this.push(complete);
    this.push(null);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    clearInterval(this.#timer);
    clearTimeout(this.#farewell);
    this.#stream.close();
    this.#onEnd();
    callback(error);
  }
}
