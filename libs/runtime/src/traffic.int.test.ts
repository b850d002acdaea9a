import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { systemClock } from "@signalbox/core";
import { quietLog } from "../test/quiet-log.ts";
import { createRunner } from "./create-runner.ts";
import { openListener } from "./open-listener.ts";
import type { UpgradeListener } from "./service-context.ts";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const tunnel = "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n";
const webSocket = "GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

/** Opens a listener that collects its requests and answers none. */
async function openWaiting(upgrade?: UpgradeListener) {
  const runner = createRunner({ log: quietLog().log, clock: systemClock });
  const requests: { request: IncomingMessage; response: ServerResponse; closed: Promise<unknown> }[] = [];
  const { port } = await openListener(runner, {
    name: "http",
    host: "127.0.0.1",
    port: 0,
    errorDocs: "/docs/errors",
    listener: (request, response) => void requests.push({ request, response, closed: once(response, "close") }),
    upgrade,
  });
  const arrived = async (count: number) => {
    while (requests.length < count) await new Promise(setImmediate);
    return requests;
  };
  const send = (text: string) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {}).write(text);
    return socket;
  };
  return { runner, arrived, send };
}

async function textOf(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += chunk;
  return text;
}

test("CONNECT is refused with the methods that there are", async () => {
  const { runner, send } = await openWaiting();
  const text = await textOf(send(tunnel));
  assert.match(text, /^HTTP\/1\.1 405 [\s\S]*allow: GET, HEAD/i);
  assert.deepEqual(await runner.stop(5_000), []);
});

test("CONNECT is refused after the answers to the requests before it", async () => {
  const { runner, arrived, send } = await openWaiting();
  const text = textOf(send(get("/1") + get("/2") + tunnel));
  const [first, second] = await arrived(2);
  second?.response.end("second");
  first?.response.end("first");
  assert.deepEqual((await text).match(/HTTP\/1\.1 \d+|first|second/g), [
    "HTTP/1.1 200",
    "first",
    "HTTP/1.1 200",
    "second",
    "HTTP/1.1 405",
  ]);
  assert.deepEqual(await runner.stop(5_000), []);
});

test("an upgrade behind requests without an answer is a plain request in its turn", async () => {
  const { runner, arrived, send } = await openWaiting(() => assert.fail("the connection was upgraded"));
  const socket = send(get("/1") + get("/2") + webSocket);
  const requests = await arrived(3);
  assert.deepEqual(
    requests.map(({ request }) => request.url),
    ["/1", "/2", "/socket"],
  );
  socket.destroy();
  await Promise.all(requests.map(({ closed }) => closed));
  assert.deepEqual(await runner.stop(5_000), []);
});

test("an upgrade behind an answered request is an upgrade", async () => {
  const upgraded = Promise.withResolvers<void>();
  const { runner, arrived, send } = await openWaiting((_request, socket) => {
    upgraded.resolve();
    socket.destroy();
  });
  const socket = send(get("/"));
  const [first] = await arrived(1);
  first?.response.end("first");
  await once(socket, "data");
  socket.write(webSocket);
  await upgraded.promise;
  assert.deepEqual(await runner.stop(5_000), []);
});

for (const { kind, sent } of [
  { kind: "pipelined requests", sent: get("/1") + get("/2") + get("/3") },
  { kind: "pipelined requests before CONNECT", sent: get("/1") + get("/2") + get("/3") + tunnel },
]) {
  test(`every answer closes when its connection does: ${kind}`, async () => {
    const { runner, arrived, send } = await openWaiting();
    const socket = send(sent);
    const requests = await arrived(3);
    socket.destroy();
    await Promise.all(requests.map(({ closed }) => closed));
    assert.deepEqual(
      requests.map(({ response }) => response.destroyed),
      [true, true, true],
    );
    assert.deepEqual(await runner.stop(5_000), []);
  });
}

test("an answer that is given up in its turn ends the connection with all others", async () => {
  const { runner, arrived, send } = await openWaiting();
  const socket = send(get("/1") + get("/2") + get("/3"));
  const requests = await arrived(3);
  requests[1]?.response.destroy();
  await once(socket, "close");
  await Promise.all(requests.map(({ closed }) => closed));
  assert.deepEqual(await runner.stop(5_000), []);
});
