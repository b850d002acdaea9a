import type { IncomingMessage } from "node:http";
import { AppError, type ErrorCode } from "@signalbox/core";

/** The client disconnected, so no answer is possible. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

/** Returns true when the request announces a body (RFC 9112 §6.3). */
export function announcesBody(request: IncomingMessage): boolean {
  const length = request.headers["content-length"];
  return request.headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/** Refuses a body by its announced length, before a byte of it is read; `aroundBytes` may surround what is limited. */
export function refuseAnnouncedSize(
  request: IncomingMessage,
  maxBytes: number,
  code: ErrorCode,
  aroundBytes: number = 0,
): void {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes + aroundBytes) throw tooLarge(maxBytes, code);
}

/** The least pace of a body: this many bytes in each period, or its rest. */
interface BodyPace {
  readonly bytes: number;
  readonly perMs: number;
}

/** Limits for the reading of a body. */
interface BodyWatch {
  readonly pace: BodyPace;
  /** Called for every piece. */
  readonly onBytes: (bytes: number) => void;
  /** Ends the reading; its reason is thrown. */
  readonly signal: AbortSignal;
}

/**
 * Reads the whole body and counts while it arrives.
 * @throws AppError `payload_too_large` as soon as one byte too many has come, `request_timeout` when it falls behind
 * its pace; `ClientGone` when it never ends; the reason of the signal.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  code: ErrorCode = "payload_too_large",
  watch?: BodyWatch,
): Promise<Buffer> {
  refuseAnnouncedSize(request, maxBytes, code);
  return new Promise((resolve, reject) => {
    // It has closed already, and will not say so again.
    if (request.destroyed) throw new ClientGone("the client disconnected before its body was read");
    const chunks: Buffer[] = [];
    let bytes = 0;
    const refuse = (error: unknown): void => {
      request.pause();
      settle(() => reject(error));
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > maxBytes) refuse(tooLarge(maxBytes, code));
      else {
        chunks.push(chunk);
        watch?.onBytes(chunk.length);
      }
    };
    const onAbort = (): void => refuse(watch?.signal.reason);
    const stopPace =
      watch &&
      watchPace(
        watch.pace,
        () => bytes,
        () => refuse(bodyTooSlow()),
      );
    const onEnd = (): void =>
      settle(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    const onGone = (): void => settle(() => reject(new ClientGone("the client disconnected while sending its body")));
    const settle = (outcome: () => void): void => {
      stopPace?.();
      watch?.signal.removeEventListener("abort", onAbort);
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      outcome();
    };
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
    watch?.signal.addEventListener("abort", onAbort);
  });
}

/** Checks at the end of each period whether enough bytes have come. Returns the function that stops it. */
function watchPace({ bytes, perMs }: BodyPace, bytesSoFar: () => number, onBehind: () => void): () => void {
  let seen = 0;
  const timer = setInterval(() => {
    if (bytesSoFar() - seen < bytes) onBehind();
    seen = bytesSoFar();
  }, perMs);
  return () => clearInterval(timer);
}

/** The error for a body that does not arrive. */
export const bodyTooSlow = (): AppError => new AppError("request_timeout", "The body did not arrive in time.");

const tooLarge = (maxBytes: number, code: ErrorCode): AppError =>
  new AppError(code, `The body is larger than ${maxBytes} bytes.`);
