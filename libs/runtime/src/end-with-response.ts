import type { Duplex } from "node:stream";
import type { ErrorResponse } from "./error-response.ts";

/** Writes a response to a connection that is no longer served by HTTP, and ends the connection. */
export function endWithResponse(socket: Duplex, { status, statusText, headers, body }: ErrorResponse): void {
  const lines = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}`);
  // Both directions: a client that never closes its own would hold the connection.
  socket.end(`HTTP/1.1 ${status} ${statusText}\r\n${lines.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}
