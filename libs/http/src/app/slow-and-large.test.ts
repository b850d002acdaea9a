import assert from "node:assert/strict";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import test from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@signalbox/testing";
import { z } from "zod";
import { errorOf, serveRoutes } from "../../test/edge-fixture.ts";
import { createRoutes } from "../routes/create-routes.ts";
import { ok, refused } from "../routes/http-response.ts";

const Result = z.object({ bytes: z.int() });
const shared = { summary: "x", auth: "anonymous", responses: { 200: Result, 415: "error" } } as const;

function routes() {
  const table = createRoutes();
  table.post("/json", {
    ...shared,
    body: { json: z.strictObject({ a: z.string() }) },
    handle: ({ body }) => ok({ bytes: body.a.length }),
  });
  table.post("/raw", {
    ...shared,
    body: { raw: { maxBytes: 1000 } },
    handle: ({ body }) => ok({ bytes: body.length }),
  });
  table.post("/raw-json", {
    ...shared,
    body: { raw: { maxBytes: 1000, json: z.unknown() } },
    handle: ({ body }) => ok({ bytes: body.length }),
  });
  table.post("/piece", {
    ...shared,
    body: { unread: { maxBytes: 1000, mediaTypes: ["application/partial-upload"], isFile: true } },
    handle: async ({ request }) => {
      let bytes = 0;
      for await (const chunk of request) bytes += (chunk as Buffer).length;
      return ok({ bytes });
    },
  });
  table.post("/upload", {
    ...shared,
    body: { multipart: true, maxBytes: 50_000_000 },
    handle: async ({ request, headers }) => {
      if (headers["x-refuse"]) return refused(415, "unsupported_media_type");
      let bytes = 0;
      for await (const chunk of request) bytes += (chunk as Buffer).length;
      return ok({ bytes });
    },
  });
  return table;
}

/** A body of unknown length, without Content-Length. */
const endless = (chunks: number, size: number) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (let index = 0; index < chunks; index++) controller.enqueue(new Uint8Array(size).fill(0x20));
      controller.close();
    },
  });

test("a body read by its handler must have a declared type without a coding", async (t) => {
  const { request } = await serveRoutes(t, routes());
  const send = (headers: Record<string, string>) => request("/piece", { method: "POST", headers, body: "abc" });
  const type = { "content-type": "application/partial-upload" };
  assert.deepEqual(await (await send(type)).json(), { bytes: 3 });
  assert.equal((await send({ "content-type": "image/jpeg" })).status, 415);
  assert.equal((await send({ ...type, "content-encoding": "gzip" })).status, 415);
});

test("JSON above the configured limit is 413, announced or not", async (t) => {
  const { request } = await serveRoutes(t, routes());
  const headers = { "content-type": "application/json" };
  const just = JSON.stringify({ a: "x".repeat(1_048_576 - 8) });
  assert.equal((await request("/json", { method: "POST", headers, body: just })).status, 200);
  const over = await request("/json", { method: "POST", headers, body: `${just} ` });
  assert.deepEqual([over.status, (await errorOf(over)).code], [413, "payload_too_large"]);
  const chunked = { method: "POST", headers, body: endless(20, 100_000), duplex: "half" } as RequestInit;
  assert.equal((await request("/json", chunked)).status, 413);
  const { request: small } = await serveRoutes(t, routes(), { settings: ["--limits.maxRequestBytes=2048"] });
  assert.equal((await small("/json", { method: "POST", headers, body: `{"a":"${"x".repeat(2048)}"}` })).status, 413);
});

test("a route may have a limit of its own, counted while reading", async (t) => {
  const { request } = await serveRoutes(t, routes());
  const post = (body: ReadableStream) => request("/raw", { method: "POST", body, duplex: "half" } as RequestInit);
  assert.deepEqual(await (await post(endless(10, 100))).json(), { bytes: 1000 });
  assert.equal((await post(endless(11, 100))).status, 413);
});

test("a multipart body is left unread for the handler", async (t) => {
  const { request } = await serveRoutes(t, routes());
  const body = new FormData();
  body.set("file", new Blob([new Uint8Array(300_000)]), "a.bin");
  const response = await request("/upload", { method: "POST", body });
  assert.ok(((await response.json()) as { bytes: number }).bytes > 300_000);
  const other = await request("/upload", { method: "POST", body: "x", headers: { "content-type": "text/plain" } });
  assert.equal(other.status, 415);
});

test("a client that is refused during a large upload receives the refusal", async (t) => {
  const { url } = await serveRoutes(t, routes());
  const status = await new Promise<number>((resolve, reject) => {
    const headers = { "content-type": "multipart/form-data; boundary=x", "content-length": 8_000_000, "x-refuse": "1" };
    const upload = httpRequest(`${url}/upload`, { method: "POST", headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    upload.on("error", reject);
    for (let index = 0; index < 80; index++) upload.write(Buffer.alloc(100_000));
    upload.end();
  });
  assert.equal(status, 415);
});

test("a refusal behind a proxy follows the whole body, so that the connection can be reused", async (t) => {
  const { port } = await serveRoutes(t, routes());
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString();
  });
  const head = (length: number) =>
    `POST /raw HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: ${length}\r\n\r\n`;
  const length = 200_000;
  socket.write(head(length) + "x".repeat(length - 1));
  // The answer proves that the server had time for the first request.
  const other = await fetch(`http://127.0.0.1:${port}/raw`, { method: "POST", body: "x" });
  assert.deepEqual([other.status, text], [200, ""]);
  socket.write(`x${head(1)}x`);
  await eventually(() => assert.match(text, /^HTTP\/1\.1 413 [\s\S]*HTTP\/1\.1 200 /));
  assert.doesNotMatch(text, /connection: close/i);
});

test("an upload announced as too large is refused before it is sent", async (t) => {
  const { port } = await serveRoutes(t, routes());
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.write(
    "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 60000000\r\n\r\n",
  );
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString();
  });
  await eventually(() => assert.match(text, /^HTTP\/1\.1 413 [\s\S]*Connection: close[\s\S]*payload_too_large/));
});

test("a request past its deadline is 504 with its handler aborted", async (t) => {
  const table = createRoutes();
  const reasons: unknown[] = [];
  const waiting = async ({ signal }: { signal: AbortSignal }) => {
    // A paused process may come here after the deadline.
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    reasons.push((signal.reason as Error).message);
    return ok({ bytes: 1 });
  };
  table.get("/slow", { ...shared, deadlineMs: 50, handle: waiting });
  table.get("/endless", { ...shared, deadlineMs: null, handle: async () => sleep(80).then(() => ok({ bytes: 2 })) });
  const { request, lines } = await serveRoutes(t, table);
  const response = await request("/slow");
  assert.deepEqual([response.status, (await errorOf(response)).code], [504, "timeout"]);
  await eventually(() => assert.deepEqual(reasons, ["The request took too long."]));
  assert.equal(lines.filter(({ route }) => route === "/slow").length, 1);
  assert.equal((await request("/endless")).status, 200);
});

test("a body that comes late or stalls is 408", async (t) => {
  const table = createRoutes();
  const handle = async ({ request }: { request: IncomingMessage }) => {
    for await (const _chunk of request);
    return ok({ bytes: 1 });
  };
  table.post("/json", { ...shared, deadlineMs: 50, body: z.strictObject({}), handle: () => ok({ bytes: 1 }) });
  table.post("/upload", { ...shared, deadlineMs: 50, body: { multipart: true }, handle });
  const { port, lines } = await serveRoutes(t, table);
  for (const [path, type] of [
    ["/json", "application/json"],
    ["/upload", "multipart/form-data; boundary=x"],
  ]) {
    const socket = connect(port, "127.0.0.1");
    t.after(() => socket.destroy());
    socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: 9\r\n\r\n{`);
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    await eventually(() => assert.match(text, /^HTTP\/1\.1 408 [\s\S]*Connection: close[\s\S]*"request_timeout"/));
    socket.destroy();
    await eventually(() => assert.equal(lines.find(({ route }) => route === path)?.status, 408));
  }
});

test("an upload outlives every deadline while it makes progress", async (t) => {
  const table = createRoutes();
  const arrived: string[] = [];
  const handle = async ({ request }: { request: IncomingMessage }) => {
    for await (const chunk of request) arrived.push(String(chunk));
    return ok({ bytes: arrived.join("").length });
  };
  table.post("/upload", { ...shared, deadlineMs: 600, body: { multipart: true }, handle });
  const { port } = await serveRoutes(t, table);
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  socket.write("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\n");
  socket.write("Content-Length: 640000\r\n\r\n");
  for (let count = 1; count <= 20; count++) {
    await sleep(50);
    socket.write("x".repeat(32_000));
  }
  await eventually(() => assert.match(text, /^HTTP\/1\.1 200 [\s\S]*"bytes":640000/));
});

test("a dripping upload is 408 without waiting for its rest", async (t) => {
  const table = createRoutes();
  let ended = 0;
  const handle = async ({ request }: { request: IncomingMessage }) => {
    try {
      for await (const _chunk of request.iterator({ destroyOnReturn: false }));
    } finally {
      ended += 1;
    }
    return ok({ bytes: 1 });
  };
  table.post("/upload", { ...shared, deadlineMs: 600, body: { multipart: true }, handle });
  const { port } = await serveRoutes(t, table);
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  socket.on("error", () => {});
  socket.write("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\n");
  socket.write("Content-Length: 640000\r\n\r\n");
  const dripping = setInterval(() => socket.write("x"), 20);
  t.after(() => {
    clearInterval(dripping);
    socket.destroy();
  });
  await eventually(() => assert.match(text, /^HTTP\/1\.1 408 [\s\S]*"request_timeout"/));
  await eventually(() => assert.equal(ended, 1));
});

test("the deadline of an upload's answer begins at the end of the file", async (t) => {
  const table = createRoutes();
  const handle = async ({ request, signal }: { request: IncomingMessage; signal: AbortSignal }) => {
    for await (const _chunk of request);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return ok({ bytes: 1 });
  };
  table.post("/upload", { ...shared, deadlineMs: 100, body: { multipart: true }, handle });
  const { request } = await serveRoutes(t, table);
  const body = new FormData();
  body.set("file", new Blob([new Uint8Array(300_000)]), "a.bin");
  const response = await request("/upload", { method: "POST", body });
  assert.deepEqual([response.status, (await errorOf(response)).code], [504, "timeout"]);
});

test("a request refused by its headers is refused before its body is requested", async (t) => {
  const { port, server } = await serveRoutes(t, routes());
  // The reader of the body sends 100, as behind a listener of a service.
  server.on("checkContinue", (request, response) => server.emit("request", request, response));
  for (const [path, status, headers] of [
    ["/json", 413, "Content-Type: application/json\r\nContent-Length: 9000000"],
    ["/json", 415, "Content-Type: text/plain\r\nContent-Length: 9"],
    ["/raw-json", 415, "Content-Type: text/plain\r\nContent-Length: 9"],
  ] as const) {
    const socket = connect(port, "127.0.0.1");
    t.after(() => socket.destroy());
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n${headers}\r\n\r\n`);
    await eventually(() => assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*Connection: close`)));
  }
});

test("a client's disconnect aborts its handler, logged as 499", async (t) => {
  const table = createRoutes();
  let aborted = false;
  const began = Promise.withResolvers<void>();
  table.get("/wait", {
    ...shared,
    handle: async ({ signal }) => {
      began.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      aborted = true;
      return ok({ bytes: 0 });
    },
  });
  const { url, lines } = await serveRoutes(t, table);
  const controller = new AbortController();
  const gone = fetch(`${url}/wait`, { signal: controller.signal });
  await began.promise;
  controller.abort();
  await assert.rejects(gone);
  await eventually(() => {
    assert.equal(aborted, true);
    assert.equal(lines.find(({ route }) => route === "/wait")?.status, 499);
  });
});

test("a client that disconnects while sending is logged once, not as an error", async (t) => {
  const { port, lines } = await serveRoutes(t, routes());
  const socket = connect(port, "127.0.0.1");
  await new Promise((resolve) =>
    socket.write("POST /raw HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\nhalf", resolve),
  );
  socket.destroy();
  await eventually(() => {
    const line = lines.find(({ route }) => route === "/raw");
    assert.deepEqual([line?.status, line?.level], [499, "info"]);
  });
});
