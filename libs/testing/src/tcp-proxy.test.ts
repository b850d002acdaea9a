import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, test } from "node:test";
import { eventually } from "./eventually.ts";
import { createReceiver } from "./receiver.ts";
import { createTcpProxy } from "./tcp-proxy.ts";

const receiver = await createReceiver({ body: "through" });
const proxy = await createTcpProxy(receiver);
after(async () => {
  await proxy.close();
  await receiver.close();
});

const ask = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/** Returns once the connection has carried an answer, so the proxy surely knows it. */
async function openAndAsk() {
  const connection = await open();
  connection.socket.write(ask);
  await eventually(() => connection.received().endsWith("through"));
  return connection;
}

async function open(): Promise<{ socket: Socket; received: () => string; closed: Promise<unknown> }> {
  const socket = connect(proxy.port, "127.0.0.1");
  let received = "";
  socket.on("data", (bytes) => {
    received += bytes;
  });
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await once(socket, "connect");
  return { socket, received: () => received, closed };
}

test("a URL is pointed at the proxy, otherwise unchanged", () => {
  const url = proxy.urlFor("postgres://user:word@127.0.0.1:5432/name?x=1");
  assert.equal(url, `postgres://user:word@127.0.0.1:${proxy.port}/name?x=1`);
});

test("bytes pass both ways", async () => {
  const { socket } = await openAndAsk();
  socket.destroy();
});

test("a paused proxy keeps connections open in silence until it resumes", async () => {
  const { socket, received } = await open();
  proxy.pause();
  const before = receiver.requests.length;
  socket.write(ask);
  const late = await open();
  late.socket.write(ask);
  await assert.rejects(eventually(() => receiver.requests.length > before, { timeoutMs: 150 }));
  assert.equal(received(), "");
  proxy.resume();
  await eventually(() => received().endsWith("through") && late.received().endsWith("through"));
  socket.destroy();
  late.socket.destroy();
});

test("a cut resets open connections but serves new ones", async () => {
  const { closed } = await openAndAsk();
  proxy.cut();
  await closed;
  const { socket } = await openAndAsk();
  socket.destroy();
});

test("a refusing proxy is gone until it accepts again on the same port", async () => {
  const { closed } = await openAndAsk();
  await proxy.refuse();
  await closed;
  await assert.rejects(open(), { code: "ECONNREFUSED" });
  await proxy.accept();
  const { socket } = await openAndAsk();
  socket.destroy();
});

test("latency delays both ways", async () => {
  proxy.setLatency(40);
  const start = performance.now();
  const { socket } = await openAndAsk();
  proxy.setLatency(0);
  assert.ok(performance.now() - start >= 75);
  socket.destroy();
});
