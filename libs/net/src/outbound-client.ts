import type { IncomingHttpHeaders } from "node:http";
import type { Writable } from "node:stream";
import { type Clock, seconds } from "@signalbox/core";
import type { ExchangeRequest } from "./exchange.ts";
import { isOutboundError, OutboundError, type OutboundStage } from "./outbound-error.ts";
import { createProtocolPools } from "./protocol-pools.ts";
import { parseProxy } from "./proxy-tunnel.ts";
import { redirectedRequest, redirectTarget } from "./redirect.ts";
import type { AddressLookup, ClientCertificate, ConnectionTiming } from "./ssrf-guard.ts";
import { createTargetPolicy, type TargetPolicy, type TargetProblem } from "./target-policy.ts";

export interface OutboundRequest {
  readonly url: string | URL;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array | null;
  /** Deadline of the whole exchange: waiting for a connection, connecting, TLS, sending, reading, all hops. */
  readonly deadlineMs: number;
  readonly responseBytesMax: number;
  /** `truncate` keeps the first bytes and closes the connection. Default: `fail`. */
  readonly whenTooLarge?: "fail" | "truncate";
  /**
   * With `truncate` and `bodyGraceMs`: a body up to this size is read to its end, without being kept, so that its
   * connection can be reused. Default: none.
   */
  readonly drainBytesMax?: number;
  /**
   * Makes the head the answer: the body has this much time, and its bytes until then, or until a failure, are kept as
   * truncated. Without it an incomplete body is a failure.
   */
  readonly bodyGraceMs?: number;
  /**
   * Handling of an encoded body. Encodings are neither requested nor decoded, so that the byte limit is exact. `raw`
   * passes the bytes on. Default: `refuse`.
   */
  readonly encodedBody?: "refuse" | "raw";
  /** Largest number of redirects to follow, each checked. Default: 0, and a redirect is the response. */
  readonly followRedirects?: number;
  /** Refuses http, except for targets of the allow list. */
  readonly requireHttps?: boolean;
  /** Certificate for the TLS handshake. Connections are shared only by requests with the same certificate. */
  readonly clientCertificate?: ClientCertificate | undefined;
  readonly signal?: AbortSignal;
  /** Stream that receives the body instead of memory. It is not ended here. */
  readonly bodyTo?: Writable;
}

/** Milliseconds since the start of the exchange; with redirects, of the last hop. */
interface ExchangeTiming {
  readonly totalMs: number;
  readonly sentAfterMs: number;
  readonly firstByteAfterMs: number;
  /** Timing of opening the connection; null for a reused one. */
  readonly opened: ConnectionTiming | null;
}

interface OutboundResponse {
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly truncated: boolean;
  readonly remoteAddress: string | undefined;
  readonly timing: ExchangeTiming;
}

export interface OutboundClient {
  /**
   * Runs one exchange.
   * @throws OutboundError for everything but a whole response
   */
  request(request: OutboundRequest): Promise<OutboundResponse>;
  /** Checks a URL by this client's policy without sending anything, for a 422. */
  check(url: string, options?: { requireHttps?: boolean }): TargetProblem | null;
  /** Waits for running exchanges, each bounded by its deadline, then ends all connections. */
  close(): Promise<void>;
}

export interface OutboundClientOptions {
  /** Non-public targets that are allowed: `10.0.0.5:8443`, `127.0.0.1:*`. */
  readonly allow: readonly string[];
  /** Ports of this process's own listeners. */
  readonly refusePorts?: () => readonly number[];
  readonly lookup?: AddressLookup;
  readonly clock: Clock;
  readonly connectTimeoutMs?: number;
  readonly connectionsPerOriginMax?: number;
  readonly idleTimeoutMs?: number;
  readonly certificateAuthorities?: readonly string[];
  /** `http://user:password@host:port` of the proxy of every connection. Targets are checked all the same. */
  readonly proxy?: string | null;
  /** Uses HTTP/2 with servers that choose it in the TLS handshake. Default: false. */
  readonly http2?: boolean;
  /**
   * Called at the end of each exchange with `answered`, or the stage of its failure; also for a check that finds an
   * internal address, so that probes for them are seen.
   */
  readonly onEnd?: (outcome: OutboundStage | "answered", durationMs: number) => void;
}

/** Creates the outbound HTTP client of one use, with its own allow list and its own connections. */
export function createOutboundClient(options: OutboundClientOptions): OutboundClient {
  const { clock, connectTimeoutMs = seconds(10), connectionsPerOriginMax = 64, idleTimeoutMs = seconds(4) } = options;
  const policy = createTargetPolicy(options);
  const { lookup: resolve, certificateAuthorities, http2 = false } = options;
  const proxy = options.proxy ? parseProxy(options.proxy) : undefined;
  const pools = createProtocolPools({
    clock,
    policy,
    resolve,
    connectTimeoutMs,
    certificateAuthorities,
    proxy,
    connectionsPerOriginMax,
    idleTimeoutMs,
    http2,
  });

  const running = new Set<Promise<unknown>>();

  async function follow(input: OutboundRequest): Promise<OutboundResponse> {
    const startedAtMs = clock.steadyMs();
    let hop = firstHop(input, startedAtMs + input.deadlineMs);
    for (let redirectsLeft = input.followRedirects ?? 0; ; redirectsLeft--) {
      refuseForbidden(policy, hop.url, input.requireHttps ?? false);
      const response = await pools.exchange(hop, input.clientCertificate);
      const next = hop.followsRedirects ? redirectTarget(hop.url, response) : null;
      if (!next) {
        const { status, headers, body, truncated, remoteAddress, sentAfterMs, firstByteAfterMs, opened } = response;
        const timing = { totalMs: clock.steadyMs() - startedAtMs, sentAfterMs, firstByteAfterMs, opened };
        return { url: hop.url.href, status, headers, body, truncated, remoteAddress, timing };
      }
      if (redirectsLeft === 0) {
        throw new OutboundError("response", `More than ${input.followRedirects} redirects.`, { code: "redirect" });
      }
      hop = redirectedRequest(hop, response.status, next);
    }
  }

  return {
    request(input) {
      const startedMs = clock.steadyMs();
      const response = follow(input);
      running.add(response);
      const end = (outcome: OutboundStage | "answered") => {
        running.delete(response);
        options.onEnd?.(outcome, clock.steadyMs() - startedMs);
      };
      response.then(
        () => end("answered"),
        (error: unknown) => end(isOutboundError(error) ? error.stage : "request"),
      );
      return response;
    },
    check(url, checks) {
      const problem = policy.judgeUrl(url, checks);
      if (problem?.code === "address" || problem?.code === "own_port") options.onEnd?.("forbidden", 0);
      return problem;
    },
    async close() {
      await Promise.allSettled(running);
      // Not close(): that would wait for connections that no request waits for any more.
      await pools.destroy();
    },
  };
}

function firstHop(input: OutboundRequest, deadlineAtMs: number): ExchangeRequest {
  if (typeof input.url === "string" && !URL.canParse(input.url)) {
    throw new OutboundError("forbidden", "This is not an absolute URL.", { code: "malformed" });
  }
  return {
    url: typeof input.url === "string" ? new URL(input.url) : input.url,
    method: input.method ?? "GET",
    headers: { "accept-encoding": "identity", "user-agent": "Signalbox", ...input.headers },
    body: input.body ?? null,
    deadlineAtMs,
    responseBytesMax: input.responseBytesMax,
    whenTooLarge: input.whenTooLarge ?? "fail",
    drainBytesMax: input.drainBytesMax ?? 0,
    bodyGraceMs: input.bodyGraceMs ?? null,
    encodedBody: input.encodedBody ?? "refuse",
    signal: input.signal,
    bodyTo: input.bodyTo,
    followsRedirects: (input.followRedirects ?? 0) > 0,
  };
}

function refuseForbidden(policy: TargetPolicy, url: URL, requireHttps: boolean): void {
  const problem = policy.judgeUrl(url, { requireHttps });
  if (problem) throw new OutboundError("forbidden", problem.message, { code: problem.code });
}
