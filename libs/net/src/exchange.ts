import type { IncomingHttpHeaders } from "node:http";
import type { Writable } from "node:stream";
import type { Clock } from "@signalbox/core";
import type { Dispatcher } from "undici";
import { OutboundError, type OutboundPhase } from "./outbound-error.ts";
import { isRedirect } from "./redirect.ts";

/** One request to one origin, already judged. */
export interface ExchangeRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | null;
  /** On the steady clock. */
  readonly deadlineAtMs: number;
  readonly responseBytesMax: number;
  readonly whenTooLarge: "fail" | "truncate";
  readonly encodedBody: "refuse" | "raw";
  readonly signal: AbortSignal | undefined;
  readonly bodyTo: Writable | undefined;
  /** Whether a redirect will be followed: then nothing of its own body is read. */
  readonly followsRedirects: boolean;
}

export interface ExchangeResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly truncated: boolean;
  readonly remoteAddress: string | undefined;
  /** Since the exchange began: until the request was on a connection, and until the status line came. */
  readonly sentAfterMs: number;
  readonly firstByteAfterMs: number;
}

/** How a connection tells its exchange which address it leads to; see `connection-pool.ts`. */
export interface Carrier {
  remoteAddress: string | undefined;
}

/** What the pool hands an exchange on the connection that carries it. */
export interface CarriedHandler extends Dispatcher.DispatchHandler {
  carrier?: Carrier;
}

/**
 * Runs one exchange. The deadline spans waiting for a connection, sending and reading: whatever is going on then is
 * aborted. Works on the dispatcher's raw callbacks, which cost about half of its request() method.
 */
export function exchange(dispatcher: Dispatcher, request: ExchangeRequest, clock: Clock): Promise<ExchangeResponse> {
  return new Promise((resolve, reject) => {
    const startedAtMs = clock.steadyMs();
    let phase: OutboundPhase = "connect";
    let settled = false;
    let controller: Dispatcher.DispatchController | undefined;
    let status = 0;
    let headers: IncomingHttpHeaders = {};
    let received = 0;
    let chunks: Buffer[] = [];
    let sentAfterMs = 0;
    let firstByteAfterMs = 0;

    const timer = setTimeout(onDeadline, Math.max(0, request.deadlineAtMs - startedAtMs));
    request.signal?.addEventListener("abort", onAbort, { once: true });

    function settle(): boolean {
      if (settled) return false;
      settled = true;
      clearTimeout(timer);
      request.signal?.removeEventListener("abort", onAbort);
      return true;
    }

    function fail(error: OutboundError): void {
      if (!settle()) return;
      chunks = [];
      reject(error);
      controller?.abort(error);
    }

    function succeed(truncated: boolean): void {
      if (!settle()) return;
      const { remoteAddress } = handler.carrier ?? {};
      const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      resolve({ status, headers, body, truncated, remoteAddress, sentAfterMs, firstByteAfterMs });
    }

    /** What came is enough; the connection cannot be used again. */
    function stopReading(): void {
      succeed(true);
      controller?.abort(new OutboundError("response", "The rest is not wanted."));
    }

    function onDeadline(): void {
      fail(errorOf("deadline", `No answer from ${request.url.host} within the deadline.`, "deadline"));
    }

    function onAbort(): void {
      fail(errorOf("request", "The exchange was called off.", "aborted", request.signal?.reason));
    }

    function errorOf(stage: OutboundError["stage"], message: string, code: string | undefined, cause?: unknown) {
      return new OutboundError(stage, message, {
        code,
        during: phase,
        cause,
        remoteAddress: handler.carrier?.remoteAddress,
      });
    }

    function take(chunk: Buffer): void {
      if (!request.bodyTo) chunks.push(chunk);
      else if (!request.bodyTo.write(chunk)) {
        controller?.pause();
        request.bodyTo.once("drain", () => controller?.resume());
      }
    }

    const handler: CarriedHandler = {
      onRequestStart(started) {
        controller = started;
        // The deadline passed while it waited for a connection: it must not leave now.
        if (settled) return started.abort(new OutboundError("deadline", "Out of time before it was sent."));
        phase = "request";
        sentAfterMs = clock.steadyMs() - startedAtMs;
      },
      onResponseStart(_controller, statusCode, responseHeaders) {
        if (statusCode < 200) return;
        phase = "response";
        status = statusCode;
        headers = responseHeaders;
        firstByteAfterMs = clock.steadyMs() - startedAtMs;
        if (request.followsRedirects && isRedirect(statusCode, headers)) return stopReading();
        const encoding = headers["content-encoding"] ?? "identity";
        if (request.encodedBody === "refuse" && encoding !== "identity" && encoding !== "") {
          fail(errorOf("response", `${request.url.host} answered in content-encoding ${encoding}.`, "encoding"));
        } else if (request.whenTooLarge === "fail" && Number(headers["content-length"]) > request.responseBytesMax) {
          fail(errorOf("too-large", `The answer is larger than ${request.responseBytesMax} bytes.`, "too-large"));
        }
      },
      onResponseData(_controller, chunk) {
        if (settled) return;
        const room = request.responseBytesMax - received;
        received += chunk.length;
        if (chunk.length <= room) return take(chunk);
        if (request.whenTooLarge === "fail") {
          return fail(
            errorOf("too-large", `The answer is larger than ${request.responseBytesMax} bytes.`, "too-large"),
          );
        }
        take(chunk.subarray(0, room));
        stopReading();
      },
      onResponseEnd() {
        succeed(false);
      },
      onResponseError(_controller, error) {
        fail(error instanceof OutboundError ? error : brokenExchange(error));
      },
    };

    function brokenExchange(error: Error): OutboundError {
      const { code } = error as NodeJS.ErrnoException;
      if (error.name !== "HTTPParserError") {
        return errorOf(phase, `The exchange with ${request.url.host} broke off.`, code, error);
      }
      return errorOf("response", `${request.url.host} did not answer in HTTP.`, "malformed", error);
    }

    if (request.signal?.aborted) return onAbort();
    const { url, method, headers: sent, body } = request;
    try {
      dispatcher.dispatch(
        {
          origin: url.origin,
          path: url.pathname + url.search,
          method: method as Dispatcher.HttpMethod,
          headers: sent,
          body,
        },
        handler,
      );
    } catch (error) {
      fail(errorOf("request", "The request cannot be sent as it is.", "malformed", error));
    }
  });
}
