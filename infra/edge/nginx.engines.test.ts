import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { securityHeaders } from "@signalbox/core";
import { createErrorResponses } from "@signalbox/runtime";
import { eventually, type ServedListener, serveListener } from "@signalbox/testing";
import { engineNamed } from "../engines/engines.ts";
import { freePort } from "../engines/free-port.ts";
import { startOwnEngine } from "../engines/own-engines.ts";
import { createInProcessEdge } from "./in-process-edge.ts";
import { nginxConfiguration } from "./nginx-configuration.ts";

interface Arrived {
  readonly request: IncomingMessage;
  bytes: number;
}

const errorResponse = createErrorResponses("/docs/errors");
const arrived: Arrived[] = [];
/** Answers of the service by path. */
const answerOf = new Map<string, RequestListener>();
const closes: (() => Promise<unknown>)[] = [];
let folder: string;
let port: number;
let statusPort: number;
let url: string;

before(async () => {
  const service = await serveListener((request, response) => {
    const one: Arrived = { request, bytes: 0 };
    arrived.push(one);
    request.on("data", (chunk: Buffer) => {
      one.bytes += chunk.length;
    });
    const own = answerOf.get(request.url ?? "");
    if (own) return void own(request, response);
    if (request.url === "/images/hang-up") return void request.socket.destroy();
    request.on("end", () => response.writeHead(request.url === "/images/none" ? 404 : 200).end('{"of":"service"}'));
  });
  // Accepts connections and never answers.
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  port = await freePort();
  folder = await mkdtemp(join(tmpdir(), "signalbox-edge-"));
  statusPort = await freePort();
  const configuration = nginxConfiguration({
    listen: `127.0.0.1:${port}`,
    listenForStatus: `127.0.0.1:${statusPort}`,
    workDirectory: folder,
    accessLog: join(folder, "access.log"),
    upstreams: {
      images: `127.0.0.1:${service.port}`,
      "webhook-delivery": [`127.0.0.1:${service.port}`, `127.0.0.1:${await freePort()}`],
      "webhook-ingest": `127.0.0.1:${service.port}`,
      account: `127.0.0.1:${(silent.address() as { port: number }).port}`,
      config: `127.0.0.1:${await freePort()}`,
      gateway: `127.0.0.1:${await freePort()}`,
    },
  });
  // A full minute for the silent service would prove the same; the others keep their minute.
  const proxied = "proxy_pass http://account;";
  await writeFile(join(folder, "nginx.conf"), configuration.replaceAll(proxied, `${proxied} proxy_read_timeout 1s;`));
  const engine = await startOwnEngine(engineNamed("nginx"), { port, folder });
  url = `http://127.0.0.1:${port}`;
  closes.push(
    () => engine.close(),
    () => service.close(),
    async () => silent.closeAllConnections() ?? silent.close(),
    () => rm(folder, { recursive: true, force: true }),
  );
});
after(async () => {
  for (const close of closes) await close();
});

/** Sends raw bytes and reads the answer until the connection closes. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("end", () => resolve(answer)).on("error", reject);
  });
}

const ask = (target: string, more = "") =>
  raw(`GET ${target} HTTP/1.1\r\nHost: edge\r\nConnection: close\r\nX-Request-Id: asked-as-this\r\n${more}\r\n`);

test("a refusal by nginx itself looks like one of ours, request id included", async () => {
  const post = "POST /images HTTP/1.1\r\nHost: edge\r\nConnection: close\r\nX-Request-Id: asked-as-this\r\n";
  const refusals = [
    [400, "invalid_request", raw("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")],
    [400, "invalid_request", ask("/", "Host: another\r\n")],
    [404, "not_found", ask("/nothing/here")],
    [404, "not_found", ask("/refused-by-the-edge/502")],
    [413, "payload_too_large", raw(`${post}Content-Length: 99999999\r\n\r\n`)],
    [414, "invalid_request", ask(`/images/${"a".repeat(90_000)}`)],
    [431, "invalid_request", ask("/images", `X-Long: ${"a".repeat(90_000)}\r\n`)],
    [502, "bad_gateway", ask("/api/v1/config/")],
    [502, "bad_gateway", ask("/images/hang-up")],
    [504, "timeout", ask("/api/account/")],
  ] as const;
  for (const [status, code, answering] of refusals) {
    const answer = await answering;
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), `${code}: ${head}`);
    assert.match(head, /content-type: application\/json/i, String(status));
    assert.match(head, /cache-control: no-store/i);
    for (const [name, value] of securityHeaders) assert.ok(head.includes(`${name}: ${value}`), `${status} ${name}`);
    assert.doesNotMatch(answer, /nginx\/\d|<html/i, "nginx shows neither its version nor a page of its own");
    const { error } = JSON.parse(body.replace(/^[\da-f]+\r\n|\r\n0\r\n$/g, ""));
    assert.equal(error.code, code, String(status));
    assert.ok(error.message.length > 0);
    const id = /x-request-id: (\S+)/i.exec(head)?.[1];
    assert.equal(error.request_id, id, String(status));
    // A too large request is not read, so its request id is unknown.
    if (![400, 414, 431].includes(status)) assert.equal(id, "asked-as-this", String(status));
  }
});

test("nginx's refusals for the graph have the form of its answers", async () => {
  const post = "POST /graphql HTTP/1.1\r\nHost: edge\r\nConnection: close\r\nX-Request-Id: asked-as-this\r\n";
  for (const [status, code, answering] of [
    [502, "UNAVAILABLE", ask("/graphql?query=x")],
    [413, "VALIDATION_FAILED", raw(`${post}Content-Length: 99999999\r\n\r\n`)],
  ] as const) {
    const [head = "", body = ""] = (await answering).split("\r\n\r\n");
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), head);
    const { errors } = JSON.parse(body.replace(/^[\da-f]+\r\n|\r\n0\r\n$/g, ""));
    assert.deepEqual(errors[0].extensions, { code, request_id: "asked-as-this" });
    assert.equal(typeof errors[0].message, "string");
  }
});

test("an answer of a service passes unchanged, refusals included", async () => {
  const answer = await fetch(`${url}/images/none`);
  assert.deepEqual([answer.status, await answer.text()], [404, '{"of":"service"}']);
});

test("a header value of 64 KiB reaches the service", async () => {
  const long = "a".repeat(65_536);
  assert.match(await ask("/images/none", `X-Long: ${long}\r\n`), /^HTTP\/1\.1 404 [\s\S]*"of":"service"/);
  assert.equal(arrived.at(-1)?.request.headers["x-long"], long);
});

test("only a short plain request id is passed on", async () => {
  const idFor = async (sent?: string) => {
    await fetch(`${url}/images`, sent === undefined ? {} : { headers: { "x-request-id": sent } });
    return String(arrived.at(-1)?.request.headers["x-request-id"]);
  };
  assert.equal(await idFor("asked-as.this_1"), "asked-as.this_1");
  for (const bad of [undefined, "a b", 'a"b', "x".repeat(129)]) assert.match(await idFor(bad), /^req_[\da-f]{32}$/);
});

test("only WebSocket upgrades are passed on", async () => {
  const answer = await ask(
    "/images/none",
    "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n",
  );
  assert.match(answer, /^HTTP\/1\.1 404 [\s\S]*"of":"service"/);
  assert.equal(arrived.at(-1)?.request.headers.upgrade, undefined);
  await ask("/images/none", "Connection: Upgrade\r\nUpgrade: WebSocket\r\n");
  assert.equal(arrived.at(-1)?.request.headers.upgrade, "websocket");
});

test("services see the client's address of the connection, independent of the client's headers", async () => {
  await fetch(`${url}/images`, { headers: { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "gopher" } });
  const headers = arrived.at(-1)?.request.headers;
  assert.deepEqual([headers?.["x-forwarded-for"], headers?.["x-forwarded-proto"]], ["127.0.0.1", "http"]);
});

test("an upload is streamed to the service without touching the disk", async () => {
  const body = Buffer.alloc(1024 * 1024);
  const socket = connect(port, "127.0.0.1");
  const head = `POST /images HTTP/1.1\r\nHost: edge\r\nConnection: close\r\nContent-Length: ${body.length * 2}\r\n\r\n`;
  socket.write(head);
  socket.write(body);
  await eventually(() => arrived.at(-1)?.request.method === "POST" && (arrived.at(-1)?.bytes ?? 0) === body.length);
  const spooled = (await readdir(join(folder, "client_body"), { recursive: true, withFileTypes: true })).filter(
    (entry) => entry.isFile(),
  );
  assert.deepEqual(spooled, []);
  const answered = new Promise((resolve) => socket.once("data", resolve));
  socket.write(body);
  assert.match(String(await answered), /^HTTP\/1\.1 200 /);
  socket.destroy();
});

test("while one of two replicas is down every request reaches the other, a POST too", async () => {
  const path = `${url}/api/v1/webhooks/endpoints`;
  const statuses = new Set<number>();
  for (let count = 0; count < 30; count++) {
    const answers = await Promise.all([fetch(path), fetch(path, { method: "POST", body: "{}" })]);
    for (const answer of answers) {
      statuses.add(answer.status);
      await answer.text();
    }
  }
  assert.deepEqual([...statuses], [200]);
});

test("a returned replica is tried immediately when the other one stops", async (t) => {
  const listener: RequestListener = (_request, response) => response.end("{}");
  const [first, second] = [await freePort(), await freePort()];
  const serve = async (at: number) => {
    const server = createServer(listener).listen(at, "127.0.0.1");
    await once(server, "listening");
    const end = () => {
      server.closeAllConnections();
      server.close();
    };
    t.after(end);
    return end;
  };
  const own = await mkdtemp(join(tmpdir(), "signalbox-edge-"));
  const edgePort = await freePort();
  const upstreams = { images: [`127.0.0.1:${first}`, `127.0.0.1:${second}`] };
  const configuration = nginxConfiguration({
    listen: `127.0.0.1:${edgePort}`,
    workDirectory: own,
    accessLog: join(own, "access.log"),
    upstreams,
  });
  await writeFile(join(own, "nginx.conf"), configuration);
  const edge = await startOwnEngine(engineNamed("nginx"), { port: edgePort, folder: own });
  t.after(async () => {
    await edge.close();
    await rm(own, { recursive: true, force: true });
  });
  const post = async () => (await fetch(`http://127.0.0.1:${edgePort}/images`, { method: "POST", body: "{}" })).status;
  const endSecond = await serve(second);
  // Enough for the edge to skip the first one.
  for (let count = 0; count < 20; count++) assert.equal(await post(), 200);
  await serve(first);
  endSecond();
  for (let count = 0; count < 20; count++) assert.equal(await post(), 200);
});

test("a POST that reached a service is not sent again", async () => {
  const before = arrived.length;
  answerOf.set("/api/v1/webhooks/hang-up", ({ socket }) => void socket.destroy());
  const answer = await fetch(`${url}/api/v1/webhooks/hang-up`, { method: "POST", body: "{}" });
  assert.deepEqual([answer.status, arrived.length - before], [502, 1]);
});

test("every request leaves one line of JSON, without its query or a secret in its path", async () => {
  const headers = { "x-request-id": "looked-for" };
  await fetch(`${url}/images/none?signature=secret`, { headers });
  await fetch(`${url}/nothing?token=secret`, { headers });
  await fetch(`${url}/ingest/src_1/secret?form=1`, { headers });
  const lines = await eventually(async () => {
    const text = await readFile(join(folder, "access.log"), "utf8");
    assert.doesNotMatch(text, /secret/);
    const found = text
      .split("\n")
      .filter((line) => line.includes("looked-for"))
      .map((line) => JSON.parse(line));
    assert.equal(found.length, 3);
    return found;
  });
  const shown = lines.map(({ method, path, status, upstream_status }) => [method, path, status, upstream_status]);
  assert.deepEqual(shown, [
    ["GET", "/images/none", "200", "200"],
    ["GET", "/nothing", "404", ""],
    ["GET", "/ingest/src_1/******", "200", "200"],
  ]);
});

test("its status has a port of its own, closed to callers", async () => {
  const status = await fetch(`http://127.0.0.1:${statusPort}/status`);
  assert.match(await status.text(), /^Active connections: \d+/);
  assert.equal((await fetch(`http://127.0.0.1:${statusPort}/`)).status, 404);
  assert.equal((await fetch(`${url}/status`)).status, 404);
});

test("the deployed configuration resolves the addresses of its services again", () => {
  const upstreams = { images: "images:8080" };
  const options = { listen: "8080", workDirectory: "/run/edge", accessLog: "/dev/stdout", upstreams };
  const configuration = nginxConfiguration({ ...options, resolver: "127.0.0.11" });
  assert.match(
    configuration,
    /upstream images \{ zone images 128k; resolver 127\.0\.0\.11 [^}]* server images:8080 [^;]* resolve;/,
  );
});

test("both edges pass OPTIONS to the service", async (t) => {
  const listener: RequestListener = ({ method, headers: { origin } }, response) =>
    void response.writeHead(204, { allow: `${method}`, "access-control-allow-origin": String(origin) }).end();
  const inProcess = await serveListener(
    createInProcessEdge(new Map([["webhook-ingest", { public: listener }]]), errorResponse).listener,
  );
  t.after(() => inProcess.close());
  answerOf.set("/ingest/options", listener);
  for (const edge of [url, inProcess.url]) {
    const headers = { origin: "https://app.example.com", "access-control-request-method": "POST" };
    const answer = await fetch(`${edge}/ingest/options`, { method: "OPTIONS", headers });
    assert.deepEqual(
      [answer.status, answer.headers.get("allow"), answer.headers.get("access-control-allow-origin")],
      [204, "OPTIONS", headers.origin],
    );
  }
});

test("both edges answer an unpublished path identically", async (t) => {
  const inProcess: ServedListener = await serveListener(createInProcessEdge(new Map(), errorResponse).listener);
  t.after(() => inProcess.close());
  for (const path of ["/robots.txt/x", "/nothing", "/internal/principals", "/imagesx", "/management/env"]) {
    const headers = { "x-request-id": "asked-as-this" };
    const [one, other] = await Promise.all([url, inProcess.url].map((edge) => fetch(edge + path, { headers })));
    const bodies = (await Promise.all([one?.json(), other?.json()])) as {
      error: { code: string; request_id: string; doc_url: string };
    }[];
    assert.deepEqual([one?.status, other?.status], [404, 404], path);
    for (const { error } of bodies) {
      const { code, request_id, doc_url } = error;
      assert.deepEqual([code, request_id, doc_url], ["not_found", "asked-as-this", "/docs/errors#not_found"]);
    }
    for (const [name, value] of securityHeaders) assert.equal(one?.headers.get(name), value);
    for (const name of ["content-type", "x-request-id", "cache-control", ...securityHeaders.map(([name]) => name)]) {
      assert.equal(one?.headers.get(name), other?.headers.get(name), name);
    }
  }
});
