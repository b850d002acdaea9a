import { createRequire } from "node:module";
import type { Socket } from "node:net";

interface Connection {
  readonly socket: Socket | undefined;
  connect(): Promise<boolean>;
}

/**
 * Fault: each request that finds no connection opens a socket, and only the last of them is kept. Here they share one
 * attempt.
 * Seen in kafkajs 2.2.4. Upstream: not reported; tulios/kafkajs#81 shares attempts one level higher, for brokers.
 */
const connection: Connection = createRequire(import.meta.url)("kafkajs/src/network/connection.js").prototype;
const { connect } = connection;
const attempts = new WeakMap<Connection, Promise<boolean>>();

connection.connect = function connectOnceAtATime(this: Connection) {
  const known = attempts.get(this);
  if (known) return known;
  const attempt = connect.call(this).finally(() => attempts.delete(this));
  attempts.set(this, attempt);
  this.socket?.setMaxListeners(0); // each request that fails meanwhile adds a listener
  return attempt;
};
