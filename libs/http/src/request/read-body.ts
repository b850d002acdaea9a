import type { IncomingMessage } from "node:http";
import { AppError, type ErrorCode } from "@signalbox/core";

/** The client went away before its body had arrived. Nobody is left to be answered. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

/** Whether the request announces a body (RFC 9112 §6.3). */
export function announcesBody(request: IncomingMessage): boolean {
  const length = request.headers["content-length"];
  return request.headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/** Refuses a body by its announced length alone, before a byte of it is read. */
export function refuseAnnouncedSize(request: IncomingMessage, maxBytes: number, code: ErrorCode): void {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes, code);
}

/** How quickly a body has to arrive: this many bytes in each stretch of time, or its rest. */
export interface BodyPace {
  readonly bytes: number;
  readonly perMs: number;
}

/**
 * Reads the whole body, counting while it arrives.
 * @throws AppError `payload_too_large` as soon as one byte too many has come, `request_timeout` when it falls behind its
 * pace; `ClientGone` when it never ends.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  code: ErrorCode = "payload_too_large",
  pace?: BodyPace,
): Promise<Buffer> {
  refuseAnnouncedSize(request, maxBytes, code);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const refuse = (error: AppError): void => {
      request.pause();
      settle(() => reject(error));
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > maxBytes) refuse(tooLarge(maxBytes, code));
      else chunks.push(chunk);
    };
    const callOff =
      pace &&
      watchPace(
        pace,
        () => bytes,
        () => refuse(bodyTooSlow()),
      );
    const onEnd = (): void =>
      settle(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    const onGone = (): void => settle(() => reject(new ClientGone("the client went away while sending its body")));
    const settle = (outcome: () => void): void => {
      callOff?.();
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      outcome();
    };
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

/** Looks at the end of each stretch whether enough has come in it. Returns how to call that off. */
function watchPace({ bytes, perMs }: BodyPace, bytesSoFar: () => number, onBehind: () => void): () => void {
  let seen = 0;
  const timer = setInterval(() => {
    if (bytesSoFar() - seen < bytes) onBehind();
    seen = bytesSoFar();
  }, perMs);
  return () => clearInterval(timer);
}

/** What is answered when a body does not arrive. */
export const bodyTooSlow = (): AppError => new AppError("request_timeout", "The body did not arrive in time.");

const tooLarge = (maxBytes: number, code: ErrorCode): AppError =>
  new AppError(code, `The body is larger than ${maxBytes} bytes.`);
