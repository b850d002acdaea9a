import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { Writable } from "node:stream";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { systemClock } from "@signalbox/core";
import { createOutboundClient, type OutboundClient, type OutboundRequest } from "./outbound-client.ts";
import { shownFailure } from "./outbound-error.ts";
import type { AddressLookup } from "./ssrf-guard.ts";
import { failureOf } from "./test-failure.ts";

const cleanups: (() => unknown)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

async function listen(
  listener: RequestListener,
  host = "127.0.0.1",
): Promise<{ url: string; port: number; server: Server }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://${host.includes(":") ? `[${host}]` : host}:${port}/`, port, server };
}

async function listenTcp(onSocket: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    cleanups.push(() => socket.destroy());
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function clientWith(options: Partial<Parameters<typeof createOutboundClient>[0]> = {}): OutboundClient {
  const client = createOutboundClient({ allow: ["127.0.0.1:*"], clock: systemClock, ...options });
  cleanups.push(() => client.close());
  return client;
}

const get = (url: string, rest: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url,
  deadlineMs: 5000,
  responseBytesMax: 1000,
  ...rest,
});

test("a check reports an internal address as a request would, but no typing error", async () => {
  const ended: string[] = [];
  const client = clientWith({ allow: [], onEnd: (outcome) => ended.push(outcome) });
  for (const url of ["https://10.0.0.1/", "nonsense", "ftp://example.org/"]) assert.ok(client.check(url));
  assert.equal(client.check("https://example.org/"), null);
  assert.deepEqual(ended, ["forbidden"]);
  await failureOf(client.request(get("https://10.0.0.1/")));
  assert.deepEqual(ended, ["forbidden", "forbidden"]);
});

test("an exchange returns status, headers, body and remote address", async () => {
  const { url } = await listen((request, response) => {
    response.setHeader("x-seen", `${request.method} ${request.headers["accept-encoding"]} ${request.headers["x-a"]}`);
    request.pipe(response.writeHead(201));
  });
  const response = await clientWith().request(get(url, { method: "POST", headers: { "x-a": "1" }, body: "hello" }));
  assert.equal(response.status, 201);
  assert.equal(response.body.toString(), "hello");
  assert.equal(response.headers["x-seen"], "POST identity 1");
  assert.equal(response.remoteAddress, "127.0.0.1");
  assert.equal(response.truncated, false);
  assert.ok(response.timing.totalMs >= response.timing.firstByteAfterMs);
});

test("a target that is not allowed gets no packet, in any notation", async () => {
  let connections = 0;
  const { port, server } = await listen((_request, response) => response.end());
  server.on("connection", () => connections++);
  const client = clientWith({ allow: [] });
  for (const host of ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.1", "[::ffff:127.0.0.1]", "localhost", "0"]) {
    const error = await failureOf(client.request(get(`http://${host}:${port}/`)));
    assert.equal(error.stage, "forbidden", host);
  }
  assert.equal(connections, 0);
});

test("a name of our network reads like one that nobody has", async () => {
  const named = (lookup: AddressLookup) =>
    failureOf(clientWith({ lookup }).request(get("http://partner.example/"))).then(shownFailure);
  const unknown = Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND", syscall: "getaddrinfo" });
  const shown = [
    await named(async () => [{ address: "10.0.0.7", family: 4 }]),
    await named(async () => []),
    await named(() => Promise.reject(unknown)),
  ];
  const expected = { stage: "resolve", code: "ENOTFOUND", message: "The name of the host could not be resolved." };
  assert.deepEqual(shown, [expected, expected, expected]);
  const literal = shownFailure(await failureOf(clientWith({ allow: [] }).request(get("http://10.0.0.7/"))));
  assert.deepEqual([literal.stage, literal.code], ["forbidden", "address"]);
});

test("a name that resolves to a non-public address is refused at the socket, even with a public one among the answers", async () => {
  const answers = [
    [{ address: "10.0.0.7", family: 4 }],
    [
      { address: "93.184.216.34", family: 4 },
      { address: "::1", family: 6 },
    ],
  ];
  for (const answer of answers) {
    const error = await failureOf(clientWith({ lookup: async () => answer }).request(get("http://partner.example/")));
    assert.equal(error.stage, "forbidden");
    assert.doesNotMatch(error.message, /10\.0\.0\.7|::1/);
  }
});

test("a rebinding resolver gains nothing: the second answer is checked like the first", async () => {
  const { port } = await listen((_request, response) => response.setHeader("connection", "close").end("ok"));
  const answers = ["127.0.0.1", "127.0.0.2"];
  const client = clientWith({
    allow: [`127.0.0.1:${port}`],
    lookup: async () => [{ address: answers.shift() ?? "", family: 4 }],
  });
  const url = `http://rebind.example:${port}/`;
  assert.equal((await client.request(get(url))).status, 200);
  assert.equal((await failureOf(client.request(get(url)))).stage, "forbidden");
});

test("a kept connection of one use does not serve another use with a narrower allow list", async () => {
  const { url } = await listen((_request, response) => response.end("ok"));
  assert.equal((await clientWith().request(get(url))).status, 200);
  assert.equal((await failureOf(clientWith({ allow: [] }).request(get(url)))).stage, "forbidden");
});

test("a port that becomes this process's own is refused although a connection to it is open", async () => {
  const { url, port } = await listen((_request, response) => response.end("ok"));
  const own: number[] = [];
  const client = clientWith({ refusePorts: () => own });
  assert.equal((await client.request(get(url))).status, 200);
  own.push(port);
  assert.equal((await failureOf(client.request(get(url)))).code, "own_port");
});

test("connections are kept for later requests", async () => {
  let connections = 0;
  const { url, server } = await listen((_request, response) => response.end("ok"));
  server.on("connection", () => connections++);
  const client = clientWith();
  for (let count = 0; count < 20; count++) {
    assert.equal((await client.request(get(url))).remoteAddress, "127.0.0.1");
  }
  // The second one opens when a request comes in the same tick in which the previous one ended.
  assert.ok(connections <= 2, `${connections} connections`);
});

test("a connection is reused within its idle time, closed after it", async (t) => {
  const { url, server } = await listen((_request, response) => response.end());
  server.keepAliveTimeout = 120_000;
  const sockets: Socket[] = [];
  server.on("connection", (socket) => sockets.push(socket));
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const client = clientWith({ idleTimeoutMs: 60_000 });
  const getOnce = async () => {
    await client.request(get(url, { deadlineMs: 3_600_000 }));
    // A connection is idle one turn after its answer.
    await new Promise(setImmediate);
  };
  await getOnce();
  t.mock.timers.tick(59_000);
  await getOnce();
  assert.equal(sockets.length, 1);
  const closed = once(sockets[0] as Socket, "close");
  t.mock.timers.tick(60_000);
  await closed;
  await getOnce();
  assert.equal(sockets.length, 2);
});

test("redirects are the response unless asked for", async () => {
  const { url } = await listen((_request, response) =>
    response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
  );
  assert.equal((await clientWith().request(get(url))).status, 302);
});

test("each hop of a redirect is checked and counted, without credentials for another origin", async () => {
  const seen: (string | undefined)[] = [];
  const last = await listen((request, response) => {
    seen.push(request.headers.authorization, request.headers["x-kept"] as string);
    response.end("arrived");
  });
  const { url } = await listen((request, response) => {
    const location = { "/out": last.url, "/loop": "/loop", "/private": "http://10.0.0.1/", "/file": "file:///x" }[
      request.url ?? ""
    ];
    response.writeHead(302, { location: location ?? "http://u:p@127.0.0.1/" }).end("x".repeat(5000));
  });
  const client = clientWith();
  const headers = { authorization: "Bearer x", "x-kept": "yes" };
  const arrived = await client.request(get(`${url}out`, { followRedirects: 2, headers }));
  assert.equal(arrived.body.toString(), "arrived");
  assert.equal(arrived.url, last.url);
  assert.deepEqual(seen, [undefined, "yes"]);
  const codes = new Map([
    ["loop", "redirect"],
    ["private", "address"],
    ["file", "scheme"],
    ["user", "credentials"],
  ]);
  for (const [path, code] of codes) {
    assert.equal((await failureOf(client.request(get(url + path, { followRedirects: 3 })))).code, code, path);
  }
});

test("the deadline covers connecting, waiting for headers and a body that drips", async () => {
  const client = clientWith({ lookup: () => new Promise(() => {}) });
  const silent = await listenTcp(() => {});
  const dripping = await listen((_request, response) => {
    const timer = setInterval(() => response.write("."), 10);
    response.on("close", () => clearInterval(timer));
  });
  for (const [url, during] of [
    ["http://stuck.example/", "connect"],
    [silent, "request"],
    [dripping.url, "response"],
  ] as const) {
    const error = await failureOf(client.request(get(url, { deadlineMs: 1_000 })));
    assert.deepEqual([error.stage, error.during], ["deadline", during], url);
  }
});

test("a request whose deadline passes while it waits for a connection is never sent", async () => {
  const paths: (string | undefined)[] = [];
  const late = Promise.withResolvers<void>();
  const { url } = await listen(async (request, response) => {
    paths.push(request.url);
    if (request.url === "/slow") await late.promise;
    response.end();
  });
  const client = clientWith({ connectionsPerOriginMax: 1 });
  const slow = client.request(get(`${url}slow`));
  assert.equal((await failureOf(client.request(get(`${url}late`, { deadlineMs: 50 })))).stage, "deadline");
  late.resolve();
  await slow;
  await client.request(get(`${url}next`));
  assert.deepEqual(paths, ["/slow", "/next"]);
});

test("bytes are counted as they arrive: declared, chunked, truncated or refused", async () => {
  const { url } = await listen((request, response) => {
    if (request.url === "/declared") response.setHeader("content-length", 5000);
    for (let count = 0; count < 50; count++) response.write("x".repeat(100));
    response.end();
  });
  const client = clientWith();
  for (const path of ["declared", "chunked"]) {
    assert.equal((await failureOf(client.request(get(url + path)))).stage, "too-large", path);
    const cut = await client.request(get(url + path, { whenTooLarge: "truncate" }));
    assert.deepEqual([cut.body.length, cut.truncated, cut.status], [1000, true, 200], path);
  }
  assert.equal((await client.request(get(`${url}exact`, { responseBytesMax: 5000 }))).truncated, false);
});

test("when the head is the answer, the received part of a dripping, stalled or broken body is kept", async () => {
  const answer = "HTTP/1.1 200 OK\r\nx-a: 1\r\ncontent-length: 100\r\n\r\npart";
  const drips = await listenTcp((socket) => {
    socket.write(answer);
    const timer = setInterval(() => socket.write("."), 50);
    socket.on("close", () => clearInterval(timer));
  });
  const stalls = await listenTcp((socket) => socket.write(answer));
  const breaksOff = await listenTcp((socket) => socket.end(answer));
  const client = clientWith();
  for (const [url, limits] of [
    [drips, { deadlineMs: 60_000, bodyGraceMs: 300 }],
    [stalls, { deadlineMs: 60_000, bodyGraceMs: 300 }],
    [stalls, { deadlineMs: 1_000, bodyGraceMs: 60_000 }],
    [breaksOff, { deadlineMs: 60_000, bodyGraceMs: 60_000 }],
  ] as const) {
    const { status, headers, body, truncated } = await client.request(get(url, limits));
    assert.deepEqual([status, headers["x-a"], truncated], [200, "1", true], url);
    assert.match(body.toString(), /^part\.*$/);
  }
  const halfAHead = await listenTcp((socket) => socket.end("HTTP/1.1 200 OK\r\nx-a"));
  assert.equal((await failureOf(client.request(get(halfAHead, { bodyGraceMs: 60_000 })))).stage, "request");
});

test("an encoded answer is refused, or passed on undecoded, so that a small one cannot grow", async () => {
  const bomb = gzipSync(Buffer.alloc(5_000_000));
  const { url } = await listen((_request, response) => response.setHeader("content-encoding", "gzip").end(bomb));
  const client = clientWith();
  assert.equal((await failureOf(client.request(get(url, { responseBytesMax: 10_000 })))).code, "encoding");
  const raw = await client.request(get(url, { responseBytesMax: 10_000, encodedBody: "raw" }));
  assert.deepEqual(raw.body, bomb);
});

test("a body can be written to a stream that is slower than the network", async () => {
  const { url } = await listen((_request, response) => response.end(Buffer.alloc(3_000_000, 7)));
  let received = 0;
  const sink = new Writable({
    highWaterMark: 16_000,
    write: (chunk: Buffer, _encoding, done) => {
      received += chunk.length;
      setImmediate(done);
    },
  });
  const response = await clientWith().request(get(url, { bodyTo: sink, responseBytesMax: 4_000_000 }));
  await new Promise<void>((resolve) => sink.end(resolve));
  assert.deepEqual([received, response.body.length], [3_000_000, 0]);
});

test("failures name their stage", async () => {
  const client = clientWith({
    lookup: async (hostname) => {
      if (hostname === "none.example") return [];
      throw Object.assign(new Error("no"), { code: "ENOTFOUND", syscall: "getaddrinfo" });
    },
  });
  const plain = await listen((_request, response) => response.end());
  const hangsUp = await listenTcp((socket) => socket.destroy());
  const rubbish = await listenTcp((socket) => socket.end("no HTTP at all\r\n\r\n"));
  const halfWay = await listenTcp((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"));
  const closed = await listen(() => {});
  await new Promise((resolve) => closed.server.close(resolve));
  const stages = new Map([
    ["http://unknown.example/", "resolve"],
    ["http://none.example/", "resolve"],
    [closed.url, "connect"],
    [plain.url.replace("http:", "https:"), "tls"],
    [hangsUp, "request"],
    [rubbish, "response"],
    [halfWay, "response"],
    ["nonsense", "forbidden"],
  ]);
  for (const [url, stage] of stages) assert.equal((await failureOf(client.request(get(url)))).stage, stage, url);
});

test("a caller can cancel an exchange before or while it runs", async () => {
  const silent = await listenTcp(() => {});
  const client = clientWith();
  const controller = new AbortController();
  const running = failureOf(client.request(get(silent, { signal: controller.signal })));
  controller.abort();
  assert.equal((await running).code, "aborted");
  assert.equal((await failureOf(client.request(get(silent, { signal: AbortSignal.abort() })))).code, "aborted");
});

test("proxy settings of the environment are not used", async () => {
  const { url } = await listen((_request, response) => response.end("direct"));
  for (const name of ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"])
    process.env[name] = "http://127.0.0.1:1/";
  try {
    assert.equal((await clientWith().request(get(url))).body.toString(), "direct");
  } finally {
    for (const name of ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"]) delete process.env[name];
  }
});
