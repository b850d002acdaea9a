import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { headBytesMax, headerCountMax } from "./answer-guard.ts";
import type { ConnectionGuard } from "./carrier.ts";
import { OutboundError } from "./outbound-error.ts";

/** For one exchange: its heads, and what was on its way of a body when nobody wanted more of it. */
const wireBytesPerExchange = 512 * 1024;
/** A data frame of one byte costs ten on the wire. */
const wireBytesPerBodyByteMax = 16;
const lookEveryMs = 100;

/**
 * Guards a connection of HTTP/2, whose frames never come by here: the parser takes them from the system. It bounds neither
 * frames that it passes over nor data of streams that nobody reads any more, so the bytes that the connection has brought
 * are held against what its exchanges account for. One that brought more is closed.
 */
export class SessionGuard implements ConnectionGuard {
  readonly #socket: Socket;
  #wireBytesMax = wireBytesPerExchange;

  constructor(socket: Socket) {
    this.#socket = socket;
    const timer = setInterval(() => this.#look(), lookEveryMs).unref();
    socket.once("close", () => clearInterval(timer));
  }

  expectAnswer(): void {
    this.#wireBytesMax += wireBytesPerExchange;
  }

  /** The parser lets a little more of both through. */
  problemOf(headers: IncomingHttpHeaders): ReturnType<ConnectionGuard["problemOf"]> {
    const lines = Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one) => name + one));
    if (lines.length > headerCountMax)
      return ["too-many-headers", `The answer has more than ${headerCountMax} headers.`];
    const bytes = lines.reduce((sum, line) => sum + line.length, 0);
    return bytes > headBytesMax ? ["head-too-large", "The head of the answer is larger than 64 KiB."] : null;
  }

  countBody(bytes: number): void {
    this.#wireBytesMax += bytes * wireBytesPerBodyByteMax;
  }

  endAnswer(): void {}

  #look(): void {
    const { bytesRead, remoteAddress } = this.#socket;
    if (bytesRead <= this.#wireBytesMax) return;
    const message = "What the connection brings is hardly more than frames that belong to no answer.";
    const error = new OutboundError("response", message, { code: "malformed", during: "response", remoteAddress });
    this.#socket.destroy(error);
  }
}
