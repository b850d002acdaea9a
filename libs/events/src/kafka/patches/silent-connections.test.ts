import assert from "node:assert/strict";
import { once } from "node:events";
import { createRequire } from "node:module";
import { connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import "./silent-connections.ts";

const load = createRequire(import.meta.url);
const Connection = load("kafkajs/src/network/connection.js");
const apiVersions = load("kafkajs/src/protocol/requests/apiVersions/index.js");

test("the first request that times out breaks its connection off", async (context) => {
  const server = createServer().listen(0, "127.0.0.1");
  context.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const accepted = once(server, "connection");
  const silent = () => {};
  const connection = new Connection({
    host: "127.0.0.1",
    port,
    logger: { namespace: () => ({ debug: silent, error: silent, warn: silent }) },
    socketFactory: ({ onConnect }: { onConnect: () => void }) => connect({ host: "127.0.0.1", port }, onConnect),
    requestTimeout: 50,
    connectionTimeout: 10_000,
  });
  await connection.connect();
  const [socket] = (await accepted) as [Socket];
  context.after(() => [socket, connection.socket].forEach((one) => void one.destroy()));
  const reset = assert.rejects(once(socket.resume(), "close"), { code: "ECONNRESET" });
  await assert.rejects(connection.send(apiVersions.protocol({ version: 0 })()), { name: "KafkaJSRequestTimeoutError" });
  assert.ok(connection.socket.destroyed);
  await reset;
  assert.equal(connection.isConnected(), false);
});
