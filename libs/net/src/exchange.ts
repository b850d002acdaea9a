import type { IncomingHttpHeaders } from "node:http";
import type { Writable } from "node:stream";
import type { Clock } from "@signalbox/core";
import type { Dispatcher } from "undici";
import { interimAnswersMax } from "./answer-guard.ts";
import { BoundedBody } from "./bounded-body.ts";
import type { CarriedHandler, Carrier } from "./carrier.ts";
import {
  connectionCode,
  isUnsent,
  type OutboundCode,
  OutboundError,
  type OutboundPhase,
  type OutboundStage,
} from "./outbound-error.ts";
import { isRedirect } from "./redirect.ts";
import type { ConnectionTiming } from "./ssrf-guard.ts";

/** One request to one origin that was already checked. */
export interface ExchangeRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | null;
  /** Deadline on the steady clock. */
  readonly deadlineAtMs: number;
  readonly responseBytesMax: number;
  readonly whenTooLarge: "fail" | "truncate";
  /**
   * Bytes up to which a too large body is read to its end, without being kept, so that the connection can be reused.
   */
  readonly drainBytesMax: number;
  /** Time for the body after the head; null makes an incomplete body a failure. */
  readonly bodyGraceMs: number | null;
  readonly encodedBody: "refuse" | "raw";
  readonly signal: AbortSignal | undefined;
  readonly bodyTo: Writable | undefined;
  /** True when redirects are followed: their bodies are not read. */
  readonly followsRedirects: boolean;
}

export interface ExchangeResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly truncated: boolean;
  readonly remoteAddress: string | undefined;
  /** Milliseconds from the start until the request was on a connection, and until the status line came. */
  readonly sentAfterMs: number;
  readonly firstByteAfterMs: number;
  /** Timing of the connection, when this exchange was its first. */
  readonly opened: ConnectionTiming | null;
}

/**
 * Runs one exchange. The deadline covers waiting for a connection, sending and reading, and aborts any of them. Uses
 * the dispatcher's raw callbacks, which cost about half of its request() method.
 */
export function exchange(dispatcher: Dispatcher, request: ExchangeRequest, clock: Clock): Promise<ExchangeResponse> {
  return new Exchange(dispatcher, request, clock).run();
}

/**
 * A running exchange. Its phase follows the connection: `connect` until the request leaves, `request` until the status
 * line, `response` after it. Its first end counts, of any kind.
 */
class Exchange implements CarriedHandler {
  carrier?: Carrier;
  readonly #dispatcher: Dispatcher;
  readonly #request: ExchangeRequest;
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  readonly #body: BoundedBody;
  readonly #end = Promise.withResolvers<ExchangeResponse>();
  #ended = false;
  #phase: OutboundPhase = "connect";
  #deadline: NodeJS.Timeout | undefined;
  #bodyGrace: NodeJS.Timeout | undefined;
  /** Bytes that may still come after the end of the exchange; null for none. */
  #drainLeft: number | null = null;
  #controller: Dispatcher.DispatchController | undefined;
  #head = { status: 0, headers: {} as IncomingHttpHeaders };
  #interimAnswers = 0;
  #isSecondTry = false;
  #remoteAddress: string | undefined;
  #sentAfterMs = 0;
  #opened: ConnectionTiming | null = null;
  #firstByteAfterMs = 0;

  constructor(dispatcher: Dispatcher, request: ExchangeRequest, clock: Clock) {
    this.#dispatcher = dispatcher;
    this.#request = request;
    this.#clock = clock;
    this.#startedAtMs = clock.steadyMs();
    this.#body = new BoundedBody(request.responseBytesMax, request.bodyTo);
  }

  run(): Promise<ExchangeResponse> {
    const { signal, deadlineAtMs } = this.#request;
    if (signal?.aborted) this.#onAbort();
    else {
      this.#deadline = setTimeout(() => this.#onDeadline(), Math.max(0, deadlineAtMs - this.#startedAtMs));
      signal?.addEventListener("abort", this.#onAbort, { once: true });
      this.#dispatch();
    }
    return this.#end.promise;
  }

  #dispatch(): void {
    if (this.#ended) return;
    const { url, method, headers, body } = this.#request;
    const path = url.pathname + url.search;
    try {
      const options = { origin: url.origin, path, method: method as Dispatcher.HttpMethod, headers, body };
      this.#dispatcher.dispatch(options, this);
    } catch (error) {
      this.#fail(this.#errorOf("request", "The request cannot be sent as it is.", "malformed", error));
    }
  }

  // Sending.

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) {
      // The deadline passed while it waited for a connection: it must not be sent now.
      controller.abort(this.#errorOf("deadline", "The time ran out before the request was sent.", "deadline"));
    } else {
      this.#phase = "request";
      this.carrier?.guard?.expectAnswer();
      this.#remoteAddress = this.carrier?.remoteAddress;
      this.#sentAfterMs = this.#clock.steadyMs() - this.#startedAtMs;
      this.#takeTiming();
    }
  }

  #takeTiming(): void {
    if (this.carrier?.opened === undefined) return;
    this.#opened = this.carrier.opened;
    this.carrier.opened = undefined;
  }

  // Reading.

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) this.#countInterimAnswer();
    else this.#takeHead(status, headers);
  }

  #takeHead(status: number, headers: IncomingHttpHeaders): void {
    this.#phase = "response";
    this.#head = { status, headers };
    this.#firstByteAfterMs = this.#clock.steadyMs() - this.#startedAtMs;
    const { url, followsRedirects, encodedBody, whenTooLarge, responseBytesMax, bodyGraceMs } = this.#request;
    const encoding = headers["content-encoding"] || "identity";
    const problem = this.carrier?.guard?.problemOf(headers);
    if (problem) {
      const [code, message] = problem;
      this.#fail(this.#errorOf("response", message, code));
    } else if (followsRedirects && isRedirect(status, headers)) {
      this.#stopReading();
    } else if (encodedBody === "refuse" && encoding !== "identity") {
      this.#fail(this.#errorOf("response", `${url.host} answered in content-encoding ${encoding}.`, "encoding"));
    } else if (whenTooLarge === "fail" && Number(headers["content-length"]) > responseBytesMax) {
      this.#failTooLarge();
    } else if (bodyGraceMs !== null) {
      this.#bodyGrace = setTimeout(() => this.#stopReading(), bodyGraceMs);
    }
  }

  /** Counts an interim answer. Only HTTP/2 reports them: the guard of HTTP/1.1 drops them. */
  #countInterimAnswer(): void {
    if (++this.#interimAnswers <= interimAnswersMax) return;
    this.#phase = "response";
    const message = `More than ${interimAnswersMax} interim answers came before the final one.`;
    this.#fail(this.#errorOf("response", message, "too-many-interim"));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.carrier?.guard?.countBody(chunk.length);
    if (this.#ended) {
      this.#drain(controller, chunk.length);
      return;
    }
    const { room } = this.#body;
    if (chunk.length <= room) {
      this.#body.add(chunk, controller);
    } else if (this.#request.whenTooLarge === "fail") {
      this.#failTooLarge();
    } else {
      this.#body.add(chunk.subarray(0, room), controller);
      this.#endAtBound(controller, chunk.length - room);
    }
  }

  /** Ends the exchange; a short rest of the body is read and dropped. */
  #endAtBound(controller: Dispatcher.DispatchController, rest: number): void {
    const { drainBytesMax, responseBytesMax, bodyGraceMs } = this.#request;
    if (drainBytesMax <= responseBytesMax || bodyGraceMs === null) {
      this.#stopReading();
      return;
    }
    this.#succeed(true);
    this.#drainLeft = drainBytesMax - responseBytesMax;
    const cutOff = () => controller.abort(this.#errorOf("response", "The rest is not wanted.", "aborted"));
    this.#bodyGrace = setTimeout(cutOff, bodyGraceMs);
    this.#drain(controller, rest);
  }

  #drain(controller: Dispatcher.DispatchController, bytes: number): void {
    if (this.#drainLeft === null) return;
    this.#drainLeft -= bytes;
    if (this.#drainLeft >= 0) return;
    this.#drainLeft = null;
    clearTimeout(this.#bodyGrace);
    controller.abort(this.#errorOf("response", "The rest is not wanted.", "aborted"));
  }

  onResponseEnd(): void {
    this.carrier?.guard?.endAnswer();
    clearTimeout(this.#bodyGrace);
    this.#succeed(false);
  }

  // Ends.

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#bodyGrace);
    if (isUnsent(error) && !this.#isSecondTry) this.#tryAgain();
    else if (this.#keepsBrokenBody()) this.#succeed(true);
    else this.#fail(error instanceof OutboundError ? error : this.#brokenOff(error));
  }

  /**
   * Sends the request again: its shared connection had ended before the request was on it, and the pool does not know
   * that yet.
   */
  #tryAgain(): void {
    this.#isSecondTry = true;
    this.#phase = "connect";
    this.carrier?.retire?.();
    setImmediate(() => this.#dispatch());
  }

  #onDeadline(): void {
    const message = `No answer from ${this.#request.url.host} within the deadline.`;
    if (this.#keepsBrokenBody()) this.#stopReading();
    else {
      // The peer may be gone, and any later exchange on this connection would fail as slowly.
      if (this.#phase !== "connect") this.carrier?.retire?.();
      this.#fail(this.#errorOf("deadline", message, "deadline"));
    }
  }

  readonly #onAbort = (): void => {
    this.#fail(this.#errorOf("request", "The exchange was cancelled.", "aborted", this.#request.signal?.reason));
  };

  #failTooLarge(): void {
    const message = `The answer is larger than ${this.#request.responseBytesMax} bytes.`;
    this.#fail(this.#errorOf("too-large", message, "too-large"));
  }

  /** Ends with the bytes so far; the connection cannot be reused. */
  #stopReading(): void {
    this.#succeed(true);
    this.#controller?.abort(this.#errorOf("response", "The rest is not wanted.", "aborted"));
  }

  #succeed(truncated: boolean): void {
    if (!this.#settle()) return;
    this.#end.resolve({
      ...this.#head,
      body: this.#body.bytes(),
      truncated,
      remoteAddress: this.#remoteAddress,
      sentAfterMs: this.#sentAfterMs,
      firstByteAfterMs: this.#firstByteAfterMs,
      opened: this.#opened,
    });
  }

  #fail(error: OutboundError): void {
    if (!this.#settle()) return;
    this.#body.discard();
    this.#end.reject(error);
    this.#controller?.abort(error);
  }

  #keepsBrokenBody(): boolean {
    return this.#phase === "response" && this.#request.bodyGraceMs !== null;
  }

  /** Marks the end; returns false when the exchange had already ended. */
  #settle(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#bodyGrace);
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
    return true;
  }

  #brokenOff(error: Error): OutboundError {
    const { host } = this.#request.url;
    const code = connectionCode(error);
    if (code === "malformed") return this.#errorOf("response", `${host} did not respond with HTTP.`, code, error);
    return this.#errorOf(this.#phase, `The connection to ${host} broke off.`, code, error);
  }

  #errorOf(stage: OutboundStage, message: string, code: OutboundCode, cause?: unknown): OutboundError {
    const remoteAddress = this.#remoteAddress;
    return new OutboundError(stage, message, { code, during: this.#phase, cause, remoteAddress });
  }
}
