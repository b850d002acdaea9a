import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

interface Connection {
  readonly socket: Socket | undefined;
  connect(): Promise<boolean>;
  send(request: unknown): Promise<unknown>;
}

const connection: Connection = createRequire(import.meta.url)("kafkajs/src/network/connection.js").prototype;

/** Ends a connection of kafkajs at once. With a reset: what lies between may still deliver what came before an orderly end. */
export function breakOff(socket: Socket, reason: Error): void {
  // One that is still connecting would first connect, to be reset then.
  if (socket instanceof TLSSocket || socket.connecting || socket.writableEnded) return void socket.destroy(reason);
  socket.resetAndDestroy();
  socket.emit("error", reason); // kafkajs listens for no other end than this
}

/** kafkajs 2.2.4 opens a socket for each request that finds none, and knows only the last of them. */
function connectOnce(): void {
  const { connect } = connection;
  const connecting = new WeakMap<object, Promise<boolean>>();
  connection.connect = function connectOnceAtATime(this: Connection) {
    const known = connecting.get(this);
    if (known) return known;
    const attempt = connect.call(this).finally(() => connecting.delete(this));
    connecting.set(this, attempt);
    this.socket?.setMaxListeners(0); // each request that fails meanwhile listens for the connection once more
    return attempt;
  };
}

/** kafkajs goes on using a connection that does not answer, and asks into a network that is gone for ever. */
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
