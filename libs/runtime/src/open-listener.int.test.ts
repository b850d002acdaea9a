import assert from "node:assert/strict";
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { connect } from "node:net";
import { test } from "node:test";
import { securityHeaders, systemClock } from "@signalbox/core";
import { quietLog } from "../test/quiet-log.ts";
import { ConfigurationError } from "./config/configuration.ts";
import { createRunner } from "./create-runner.ts";
import { type OpenListener, openListener } from "./open-listener.ts";

async function open(listener: RequestListener, options: Partial<OpenListener> = {}) {
  const runner = createRunner({ log: quietLog().log, clock: systemClock });
  const { port, url } = await openListener(runner, {
    name: "http",
    host: "127.0.0.1",
    port: 0,
    errorDocs: "/docs/errors",
    listener,
    ...options,
  });
  return { runner, port, url };
}

/** Sends raw bytes and returns the whole answer once the server ends the connection. */
async function exchange(port: number, ...parts: string[]): Promise<{ status: number; headers: string; body: string }> {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  for (const part of parts) socket.write(part);
  await once(socket, "close");
  const [headers = "", body = ""] = text.split("\r\n\r\n");
  return { status: Number(headers.split(" ")[1]), headers, body };
}

const ask = async (port: number): Promise<void> => {
  const socket = connect(port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  socket.resume();
  await once(socket, "close");
};

const takesConnections = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", () => resolve(false)).once("connect", () => resolve(Boolean(socket.destroy())));
  });

const never: RequestListener = () => assert.fail("the request should not have reached the service");

for (const { kind, sent, status, code, options } of [
  {
    kind: "headers above the limit",
    sent: `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(5000)}\r\n\r\n`,
    status: 431,
    code: "invalid_request",
  },
  {
    kind: "a path above the limit",
    sent: `GET /${"x".repeat(5000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    status: 431,
    code: "invalid_request",
  },
  { kind: "bytes other than HTTP", sent: "hello there\r\n\r\n", status: 400, code: "invalid_request" },
  {
    kind: "two lengths of one body",
    sent: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    status: 400,
    code: "invalid_request",
  },
  {
    kind: "a second Host",
    sent: "GET / HTTP/1.1\r\nHost: a\r\nhOst: b\r\n\r\n",
    status: 400,
    code: "invalid_request",
  },
  { kind: "a missing Host", sent: "GET / HTTP/1.1\r\n\r\n", status: 400, code: "invalid_request" },
  {
    kind: "an unknown expectation",
    sent: "GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n",
    status: 417,
    code: "invalid_request",
  },
  {
    kind: "headers that do not arrive in time",
    sent: "GET / HTTP/1.1\r\nHost: a\r\n",
    status: 408,
    code: "request_timeout",
    options: { headerTimeoutMs: 100 },
  },
]) {
  test(`${kind}: answered with ${status} in the usual form of errors`, async () => {
    const { runner, port } = await open(never, { headerBytesMax: 2048, ...options });
    const answer = await exchange(port, sent);
    await runner.stop(5_000);
    assert.equal(answer.status, status, answer.headers);
    const { error } = JSON.parse(answer.body) as { error: Record<string, string> };
    assert.equal(error.code, code);
    assert.ok(error.message);
    assert.match(String(error.request_id), /^req_[0-9a-f]{32}$/);
    assert.equal(error.doc_url, `/docs/errors#${code}`);
    assert.match(answer.headers, /content-type: application\/json; charset=utf-8/i);
    assert.match(answer.headers, /connection: close/i);
    for (const [name, value] of securityHeaders) assert.ok(answer.headers.includes(`${name}: ${value}`), name);
  });
}

test("a client that still sends its body reads the refusal of its headers", async () => {
  const { runner, port } = await open(never, { headerBytesMax: 2048 });
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\nX: ${"x".repeat(5000)}\r\n\r\n`;
  const { status } = await exchange(port, head, "b".repeat(4_000_000));
  assert.equal(status, 431);
  await runner.stop(5_000);
});

test("a body that becomes invalid after the answer started does not corrupt the answer", async () => {
  const { runner, port } = await open((_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("begun");
  });
  const sent = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n";
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk;
    socket.write("not a chunk\r\n");
  });
  socket.write(sent);
  await once(socket, "close");
  await runner.stop(5_000);
  assert.equal(text.match(/HTTP\/1\.1/g)?.length, 1, text);
});

test("a drain lets running answers finish, but closes idle connections and refuses new ones", async () => {
  const begun = Promise.withResolvers<() => void>();
  const { runner, port, url } = await open((_request, response) => begun.resolve(() => response.end("finished")));
  const idle = connect(port, "127.0.0.1");
  await once(idle, "connect");
  const answer = fetch(url);
  const finish = await begun.promise;
  const stopped = runner.stop(5000);
  while (await takesConnections(port));
  finish();
  const response = await answer;
  assert.equal(await response.text(), "finished");
  assert.equal(response.headers.get("connection"), "close");
  assert.deepEqual(await stopped, []);
});

test("a connection that was not accepted yet is answered by the drain", async () => {
  const { runner, port } = await open((_request, response) => response.end("finished"));
  const answers = Array.from({ length: 20 }, () =>
    exchange(port, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"),
  );
  // They are connected now, and this loop has accepted none of them.
  await new Promise(process.nextTick);
  const stopped = runner.stop(5_000);
  for (const { status, headers } of await Promise.all(answers)) assert.equal(status, 200, headers);
  assert.deepEqual(await stopped, []);
});

test("a drain ends under a load with a new connection in each turn", async () => {
  const { runner, port } = await open((_request, response) => {
    const untilMs = performance.now() + 10;
    while (performance.now() < untilMs);
    response.end();
  });
  let isRefused = false;
  const load = Array.from({ length: 8 }, async () => {
    while (!isRefused) await ask(port).catch(() => (isRefused = true));
  });
  await ask(port);
  assert.deepEqual(await runner.stop(5_000), []);
  isRefused = true;
  await Promise.all(load);
});

test("a drain leaves an idle connection to its client, still answering on it", async () => {
  const { runner, port } = await open((_request, response) => response.end("finished"), { drainIdleMs: 60_000 });
  const [asking, leaving] = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
  for (const socket of [asking, leaving]) {
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert.match(String(await once(socket, "data")), /connection: keep-alive/i);
  }
  const stopped = runner.stop(5_000);
  while (await takesConnections(port));
  await assert.rejects(once(leaving, "end", { signal: AbortSignal.timeout(300) }), "the server has not closed it");
  asking.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  assert.match(String(await once(asking, "data")), /200 OK[\s\S]*connection: close/i);
  leaving.end();
  assert.deepEqual(await stopped, []);
});

test("an upgraded connection ends with the listener, even after another was reset", async () => {
  const { runner, port } = await open(never, {
    upgrade: (_request, socket) =>
      void socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
  });
  const request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n";
  const reset = connect(port, "127.0.0.1");
  reset.write(request);
  await once(reset, "data");
  reset.resetAndDestroy();
  const socket = connect(port, "127.0.0.1");
  socket.write(request);
  await once(socket, "data");
  const closed = once(socket, "close");
  assert.deepEqual(await runner.stop(5_000), []);
  await closed;
});

for (const wish of ["keep-alive", "close"]) {
  test(`a client that expects 100 gets it from the reader of its body, with its connection ${wish}`, async () => {
    const { runner, port } = await open(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      response.end(body);
    });
    const socket = connect(port, "127.0.0.1");
    const head = `POST / HTTP/1.1\r\nHost: a\r\nConnection: ${wish}\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n`;
    socket.write(head);
    const [interim] = await once(socket, "data");
    assert.equal(String(interim), "HTTP/1.1 100 Continue\r\n\r\n");
    socket.write("body");
    const [answer] = await once(socket, "data");
    assert.match(String(answer), new RegExp(`^HTTP/1\\.1 200 OK[\\s\\S]*Connection: ${wish}`));
    socket.destroy();
    await runner.stop(5_000);
  });
}

test("a client that expects 100 gets its refusal instead, on a connection that ends", async () => {
  const { runner, port } = await open((_request, response) => void response.writeHead(401).end("no"));
  const sent = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
  const answer = await exchange(port, sent);
  await runner.stop(5_000);
  assert.equal(answer.status, 401, answer.headers);
  assert.match(answer.headers, /connection: close/i);
});

test("a client that reads nothing of its answer is disconnected, also during writes", async () => {
  const closed = Promise.withResolvers<void>();
  const { runner, port } = await open(
    (_request, response) => {
      const more = () => {
        while (response.write(Buffer.alloc(1_048_576)));
      };
      response.on("drain", more).on("close", closed.resolve);
      more();
    },
    { stallTimeoutMs: 100 },
  );
  const socket = connect(port, "127.0.0.1").pause();
  socket.on("error", () => {});
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await closed.promise;
  socket.destroy();
  await runner.stop(5_000);
});

test("a handler that takes longer than a client may stall still answers", async () => {
  const { runner, url } = await open(
    async (request, response) => {
      await once(request.socket, "timeout");
      response.end("thought");
    },
    { stallTimeoutMs: 100 },
  );
  assert.equal(await (await fetch(url)).text(), "thought");
  await runner.stop(5_000);
});

test("an offer of another protocol is ignored: the request is answered with its body", async () => {
  const { runner, port } = await open(
    async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      response.setHeader("connection", "close").end(`${request.method} ${body}`);
    },
    { upgrade: (_request, socket) => void socket.destroy() },
  );
  const offer = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";
  const answer = await exchange(port, `POST / HTTP/1.1\r\nHost: a\r\n${offer}Content-Length: 4\r\n\r\nbody`);
  await runner.stop(5_000);
  assert.equal(answer.status, 200, answer.headers);
  assert.match(answer.body, /POST body/);
});

test("a port in use is refused with the property to change", async () => {
  const { runner, port } = await open(never);
  await assert.rejects(open(never, { port, name: "internal" }), (error: unknown) => {
    assert.ok(error instanceof ConfigurationError);
    assert.deepEqual(error.problems, [
      {
        property: "internal.port",
        source: "the internal listener",
        value: String(port),
        expected: "a free port",
        message: `port ${port} on 127.0.0.1 is in use; set internal.port to a free one`,
      },
    ]);
    return true;
  });
  await runner.stop(5_000);
});
