import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

interface Connection {
  readonly socket: Socket | undefined;
  send(request: unknown): Promise<unknown>;
}

/** Ends a connection of kafkajs at once, by a reset: after an orderly end, buffered data might still be delivered. */
export function breakOff(socket: Socket, reason: Error): void {
  // A socket that is still connecting would first connect and then be reset.
  if (socket instanceof TLSSocket || socket.connecting || socket.writableEnded) return void socket.destroy(reason);
  socket.resetAndDestroy();
  socket.emit("error", reason); // kafkajs listens for this event only
}

/**
 * Fault: a connection that does not answer stays in use, into a network that is gone. Here the first request that
 * times out breaks it off.
 * Seen in kafkajs 2.2.4. Upstream: tulios/kafkajs#919, #1783.
 */
const connection: Connection = createRequire(import.meta.url)("kafkajs/src/network/connection.js").prototype;
const { send } = connection;

connection.send = async function sendOrBreakOff(this: Connection, request) {
  try {
    return await send.call(this, request);
  } catch (error) {
    if ((error as Error).name === "KafkaJSRequestTimeoutError" && this.socket) breakOff(this.socket, error as Error);
    throw error;
  }
};
