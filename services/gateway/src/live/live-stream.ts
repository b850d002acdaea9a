import { MiB } from "@signalbox/core";
import type { FormattedExecutionResult, GraphQLError } from "graphql";
import { graphError, graphErrorOf } from "../documents/graph-error.ts";

type LiveMessage = Pick<Resolved, "result"> & { readonly cursor: string };

/** The result of an event, with its length as JSON. */
export interface Resolved {
  readonly result: FormattedExecutionResult;
  readonly bytes: number;
}

interface Waiting {
  readonly isPaced: boolean;
  readonly cursor: string;
  /** Null until it is resolved. */
  outcome: Resolved | { readonly error: GraphQLError } | null;
}

const messagesMax = 256;
const bytesMax = MiB;
const unresolvedMax = 1_000;
const pacedMax = 16;

interface StreamOptions {
  /** The cursor before the first message. */
  readonly start: string;
  /** The cursor after all delivered messages; null while a replay determines it. */
  readonly cursorNow: () => string | null;
  /** Called once, when the stream is over; with an error when the server ends it. */
  readonly onEnd: (failure: GraphQLError | null) => void;
}

/**
 * The messages of one subscription, in order, for a transport that takes one after the other. A transport that falls
 * behind by 256 messages or 1 MiB ends it: the client is notified, with the cursor after its last message, and loses
 * nothing.
 */
export class LiveStream implements AsyncIterableIterator<LiveMessage, void> {
  /** Resolves when the stream is over, also for a transport that takes nothing more. */
  readonly over: Promise<void>;
  readonly #options: StreamOptions;
  readonly #end: () => void;
  #waiting: Waiting[] = [];
  #bytes = 0;
  #delivered: string;
  #failure: GraphQLError | null = null;
  #isClosed = false;
  #wake = () => {};
  #hasRoom = () => {};

  constructor(options: StreamOptions) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#end = resolve;
    this.#delivered = options.start;
  }

  get isClosed(): boolean {
    return this.#isClosed || this.#failure !== null;
  }

  /** Returns the current cursor, or while messages wait the one before them; it never goes back. */
  cursor(): string {
    const current = this.#waiting.length === 0 ? this.#options.cursorNow() : null;
    this.#delivered = current ?? this.#delivered;
    return this.#delivered;
  }

  /**
   * Adds a message, which is resolved only while the stream is open. `isPaced` is for a sender that waits for `room`,
   * with messages of any size.
   */
  push(resolve: () => Promise<Resolved>, cursor: string, { isPaced = false } = {}): void {
    if (this.isClosed) return;
    const waiting: Waiting = { cursor, isPaced, outcome: null };
    this.#waiting.push(waiting);
    this.#judge(waiting);
    if (this.isClosed) return;
    resolve().then(
      (outcome) => this.#resolve(waiting, outcome),
      (error: unknown) => this.#resolve(waiting, { error: graphErrorOf(error) }),
    );
  }

  /** Resolves when the transport has caught up, or the stream is over: for a replay, which may be slow. */
  async room(messages = pacedMax): Promise<void> {
    while (!this.isClosed && (this.#waiting.length > messages || this.#bytes > bytesMax / 4)) {
      await new Promise<void>((resolve) => {
        this.#hasRoom = resolve;
      });
    }
  }

  /** Ends the stream with an error, which has the cursor after the last delivered message. */
  fail(code: string, message: string): void {
    this.failWith(graphError(code, message, { cursor: this.cursor() }));
  }

  failWith(error: GraphQLError): void {
    if (this.isClosed) return;
    this.#failure = error;
    this.#release();
  }

  /** Ends the stream without an error, for a transport that wants no more. */
  close(): void {
    const wasOver = this.isClosed;
    this.#isClosed = true;
    if (!wasOver) this.#release();
  }

  async next(): Promise<IteratorResult<LiveMessage, void>> {
    while (!this.isClosed && !this.#waiting[0]?.outcome) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const first = this.#waiting[0];
    if (first?.outcome && "error" in first.outcome) this.failWith(first.outcome.error);
    if (!this.isClosed && first?.outcome && "result" in first.outcome) return this.#deliver(first, first.outcome);
    const failure = this.#isClosed ? null : this.#failure;
    this.close();
    if (failure) throw failure;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<LiveMessage, void>> {
    this.close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #resolve(waiting: Waiting, outcome: Resolved | { readonly error: GraphQLError }): void {
    waiting.outcome = outcome;
    if (this.isClosed) return;
    if ("bytes" in outcome) this.#bytes += outcome.bytes;
    this.#judge(waiting);
    this.#wake();
  }

  /** Unresolved messages are not the client's fault, up to a limit. */
  #judge({ isPaced }: Waiting): void {
    const most = this.#waiting[0]?.outcome ? messagesMax : unresolvedMax;
    // A single message may be larger than the limit for all.
    const isTooMuch = this.#bytes > bytesMax && this.#waiting.length > 1 && this.#waiting[0]?.outcome !== null;
    if (this.#waiting.length > most || (isTooMuch && !isPaced))
      this.fail("SLOW_CONSUMER", "This subscription was read too slowly. Subscribe again with the cursor.");
  }

  #deliver(first: Waiting, { result, bytes }: Resolved): IteratorResult<LiveMessage, void> {
    this.#waiting.shift();
    this.#bytes -= bytes;
    this.#delivered = first.cursor;
    this.#hasRoom();
    return { done: false, value: { result, cursor: first.cursor } };
  }

  /** Gives everything back at once: a client that reads no more would never ask for the end. */
  #release(): void {
    this.#waiting = [];
    this.#bytes = 0;
    this.#options.onEnd(this.#failure);
    this.#end();
    this.#wake();
    this.#hasRoom();
  }
}
