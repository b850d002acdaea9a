import { constants } from "node:http2";
import type { TargetProblem } from "./target-policy.ts";

/**
 * Stage at which an exchange ended: `forbidden` before any packet, `resolve` the name, `proxy` on the way through our
 * own proxy, `connect` TCP, `tls` the handshake, `request` until the status line, `response` in headers or body,
 * `deadline` out of time, `too-large` over the byte limit.
 */
export type OutboundStage =
  | "forbidden"
  | "resolve"
  | "proxy"
  | "connect"
  | "tls"
  | "request"
  | "response"
  | "deadline"
  | "too-large";

/** Reason as a stable word: one of the guard's, of a refused target, or the system's for a failed connection. */
export type OutboundCode =
  | TargetProblem["code"]
  // no HTTP that can be read
  | "malformed"
  | "head-too-large"
  | "too-many-headers"
  | "too-many-interim"
  | "upgrade"
  | "encoding"
  | "redirect"
  | "too-large"
  // the whole exchange
  | "deadline"
  | "aborted"
  // our proxy
  | "unauthorized"
  | "refused"
  // the connection
  | "certificate"
  | "tls"
  | "closed"
  // the receiver ended this exchange alone (HTTP/2)
  | "reset"
  | "failed"
  | SystemCode;

const systemCodes = [
  "EAI_AGAIN",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
] as const;
type SystemCode = (typeof systemCodes)[number];

/** Phase of an exchange when the deadline passed or the caller cancelled it. */
export type OutboundPhase = "connect" | "request" | "response";

interface OutboundErrorOptions {
  readonly code: OutboundCode;
  readonly during?: OutboundPhase | undefined;
  readonly remoteAddress?: string | undefined;
  readonly cause?: unknown;
}

/**
 * Failure of an exchange without a whole response. `message` may be shown to the owner of the URL: it names the URL's
 * host, never a resolved address. `remoteAddress` and `cause` are for the operator.
 */
export class OutboundError extends Error {
  override readonly name = "OutboundError";
  readonly stage: OutboundStage;
  readonly code: OutboundCode;
  readonly during: OutboundPhase | undefined;
  readonly remoteAddress: string | undefined;

  constructor(stage: OutboundStage, message: string, options: OutboundErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.stage = stage;
    this.code = options.code;
    this.during = options.during;
    this.remoteAddress = options.remoteAddress;
  }
}

/** Returns true for a failure of an outbound exchange. */
export function isOutboundError(error: unknown): error is OutboundError {
  return error instanceof OutboundError;
}

type ShownFailure = Pick<OutboundError, "stage" | "code" | "message">;

/**
 * Returns what the owner of a URL may learn of a failure. A name that leads into our network reads like one that nobody
 * has, or answers would tell strangers which names there are; the error itself is for our log.
 */
export function shownFailure({ stage, code, message, remoteAddress }: OutboundError): ShownFailure {
  // The guard refuses an address that is written in the URL before it is anybody's remote address.
  const isHidden = stage === "forbidden" && remoteAddress !== undefined;
  if (!isHidden && stage !== "resolve") return { stage, code, message };
  return {
    stage: "resolve",
    code: isHidden ? "ENOTFOUND" : code,
    message: "The name of the host could not be resolved.",
  };
}

/** Returns true for a failure of the proxy, which proves nothing about the target. */
export const isProxyError = (error: unknown): boolean => isOutboundError(error) && error.stage === "proxy";

/**
 * Returns the code of a failed connection. Codes of the libraries never appear, because they change with their
 * versions.
 */
export function connectionCode(error: Error): OutboundCode {
  const { code = "" } = error as NodeJS.ErrnoException;
  const known = systemCodes.find((systemCode) => systemCode === code) ?? connectionCodes.get(code);
  if (known) return known;
  if (code === "ERR_HTTP2_STREAM_ERROR") return streamCode(error);
  if (/CERT|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)/.test(code)) return "certificate";
  if (/^(EPROTO|ERR_SSL|ERR_TLS)/.test(code)) return "tls";
  return error.name === "HTTPParserError" ? "malformed" : "failed";
}

const connectionCodes: ReadonlyMap<string, OutboundCode> = new Map([
  ["UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"],
  ["UND_ERR_SOCKET", "closed"],
  // the other side closed before the end that it had announced
  ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "closed"],
  ["HPE_INVALID_EOF_STATE", "closed"],
  ["UND_ERR_HEADERS_OVERFLOW", "malformed"],
  // HTTP/2: GOAWAY, with which the other side closes too, or a stream that ended without an answer
  ["UND_ERR_INFO", "closed"],
  ["ERR_HTTP2_SESSION_ERROR", "closed"],
  ["ERR_HTTP2_STREAM_CANCEL", "closed"],
  ["ERR_HTTP2_ERROR", "malformed"],
]);

/**
 * HTTP/2 error codes of a stream reset for malformed content. Either side may have reset it; the code does not show
 * which.
 */
const malformedStreams: readonly (number | undefined)[] = [
  constants.NGHTTP2_PROTOCOL_ERROR,
  constants.NGHTTP2_FLOW_CONTROL_ERROR,
  constants.NGHTTP2_FRAME_SIZE_ERROR,
  constants.NGHTTP2_COMPRESSION_ERROR,
];

type StreamError = Error & { readonly http2ErrorCode?: number };
const streamCode = (error: StreamError): OutboundCode =>
  malformedStreams.includes(error.http2ErrorCode) ? "malformed" : "reset";

/** Returns true when the server accepts this request over HTTP/1.1 only. */
export const wantsHttp1 = (error: unknown): boolean =>
  isOutboundError(error) &&
  (error.cause as StreamError | undefined)?.http2ErrorCode === constants.NGHTTP2_HTTP_1_1_REQUIRED;

/** Returns true when a shared HTTP/2 connection ended before the request was on it. */
export const isUnsent = (error: Error): boolean =>
  ["ERR_HTTP2_INVALID_SESSION", "ERR_HTTP2_GOAWAY_SESSION"].includes((error as NodeJS.ErrnoException).code ?? "");
