import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

interface Connection {
  readonly socket: Socket | undefined;
  connect(): Promise<boolean>;
  send(request: unknown): Promise<unknown>;
}

const connection: Connection = createRequire(import.meta.url)("kafkajs/src/network/connection.js").prototype;

/** Ends a connection of kafkajs at once, by a reset: after an orderly end, buffered data might still be delivered. */
export function breakOff(socket: Socket, reason: Error): void {
  // A socket that is still connecting would first connect and then be reset.
  if (socket instanceof TLSSocket || socket.connecting || socket.writableEnded) return void socket.destroy(reason);
  socket.resetAndDestroy();
  socket.emit("error", reason); // kafkajs listens for this event only
}

/**
 * Shares one connection attempt: kafkajs 2.2.4 opens a socket for each request that finds none, and keeps only the last
 * of them.
 */
function connectOnce(): void {
  const { connect } = connection;
  const connecting = new WeakMap<object, Promise<boolean>>();
  connection.connect = function connectOnceAtATime(this: Connection) {
    const known = connecting.get(this);
    if (known) return known;
    const attempt = connect.call(this).finally(() => connecting.delete(this));
    connecting.set(this, attempt);
    this.socket?.setMaxListeners(0); // each request that fails meanwhile adds a listener
    return attempt;
  };
}

/**
 * Breaks off silent connections: kafkajs keeps using a connection that does not answer, into a network that is gone.
 */
function breakOffSilentConnections(): void {
  const { send } = connection;
  connection.send = async function sendOrBreakOff(this: Connection, request) {
    try {
      return await send.call(this, request);
    } catch (error) {
      if ((error as Error).name === "KafkaJSRequestTimeoutError" && this.socket) breakOff(this.socket, error as Error);
      throw error;
    }
  };
}

connectOnce();
breakOffSilentConnections();
