import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import { test } from "node:test";
import "./one-connection.ts";

const Connection = createRequire(import.meta.url)("kafkajs/src/network/connection.js");

test("concurrent requests share one attempt to connect, and a failed attempt is followed by another", async () => {
  const sockets: { onError(error: Error): Promise<void> }[] = [];
  const connection = Object.assign(Object.create(Connection.prototype), {
    isConnected: () => false,
    logDebug: () => {},
    logError: () => {},
    rejectRequests: () => {},
    disconnect: async () => {},
    connectionTimeout: 60_000,
    socketFactory: () => {
      const socket = Object.assign(new EventEmitter(), { setKeepAlive: () => {} });
      sockets.push({ onError: async (error) => void socket.emit("error", error) });
      return socket;
    },
  });
  const attempts = [connection.connect(), connection.connect()];
  assert.equal(sockets.length, 1);
  void sockets[0]?.onError(new Error("refused"));
  for (const attempt of attempts) await assert.rejects(attempt, /refused/);
  const next = connection.connect();
  assert.equal(sockets.length, 2);
  void sockets[1]?.onError(new Error("refused again"));
  await assert.rejects(next, /refused again/);
});
