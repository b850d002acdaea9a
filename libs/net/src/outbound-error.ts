/**
 * The stage at which an exchange ended: `forbidden` before any packet left, `resolve` the name, `connect` TCP, `tls` the handshake,
 * `request` until the status line came, `response` headers or body after it, `deadline` out of time, `too-large` over the
 * byte cap.
 */
export type OutboundStage =
  | "forbidden"
  | "resolve"
  | "connect"
  | "tls"
  | "request"
  | "response"
  | "deadline"
  | "too-large";

/** How far an exchange had come when the deadline passed or the caller gave up. */
export type OutboundPhase = "connect" | "request" | "response";

interface OutboundErrorOptions {
  readonly code?: string | undefined;
  readonly during?: OutboundPhase | undefined;
  readonly remoteAddress?: string | undefined;
  readonly cause?: unknown;
}

/**
 * An exchange that brought no whole response. `message` may be shown to the owner of the URL: it names the URL's host,
 * never what a name resolved to. `remoteAddress` and `cause` are for the operator.
 */
export class OutboundError extends Error {
  override readonly name = "OutboundError";
  readonly stage: OutboundStage;
  /** A stable word for the reason: a system error such as `ECONNREFUSED`, or one of the target problems. */
  readonly code: string;
  readonly during: OutboundPhase | undefined;
  readonly remoteAddress: string | undefined;

  constructor(stage: OutboundStage, message: string, options: OutboundErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.stage = stage;
    this.code = options.code ?? stage;
    this.during = options.during;
    this.remoteAddress = options.remoteAddress;
  }
}

/** Recognizes a failure of an outbound exchange. */
export function isOutboundError(error: unknown): error is OutboundError {
  return error instanceof OutboundError;
}
