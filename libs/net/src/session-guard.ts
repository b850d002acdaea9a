import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { headBytesMax, headerCountMax } from "./answer-guard.ts";
import type { ConnectionGuard } from "./carrier.ts";
import { OutboundError } from "./outbound-error.ts";

/** Allowance of one exchange: its heads, and data of a body on its way when reading stopped. */
const wireBytesPerExchange = 512 * 1024;
/** A data frame of one byte takes ten on the wire. */
const wireBytesPerBodyByteMax = 16;
const checkEveryMs = 100;

/**
 * Guards an HTTP/2 connection, whose frames the parser reads from the system directly. The parser limits neither frames
 * that it ignores nor data of abandoned streams. So the bytes received on the connection are compared with those that
 * its exchanges account for; a connection with more is closed.
 */
export class SessionGuard implements ConnectionGuard {
  readonly #socket: Socket;
  #wireBytesMax = wireBytesPerExchange;

  constructor(socket: Socket) {
    this.#socket = socket;
    const timer = setInterval(() => this.#checkBytes(), checkEveryMs).unref();
    socket.once("close", () => clearInterval(timer));
  }

  expectAnswer(): void {
    this.#wireBytesMax += wireBytesPerExchange;
  }

  /** Checks the size of a head: the parser lets slightly larger ones through. */
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

  #checkBytes(): void {
    const { bytesRead, remoteAddress } = this.#socket;
    if (bytesRead <= this.#wireBytesMax) return;
    const message = "The connection receives mostly frames that belong to no answer.";
    const error = new OutboundError("response", message, { code: "malformed", during: "response", remoteAddress });
    this.#socket.destroy(error);
  }
}
