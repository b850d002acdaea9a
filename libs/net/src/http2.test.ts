import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { constants, createSecureServer } from "node:http2";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, afterEach, before, test } from "node:test";
import tls, { type TLSSocket } from "node:tls";
import { systemClock } from "@signalbox/core";
import {
  createCertificates,
  eventually,
  type FrameStream,
  startFrameReceiver,
  type TestCertificates,
} from "@signalbox/testing";
import { createOutboundClient } from "./outbound-client.ts";
import { failureOf } from "./test-failure.ts";

const cleanups: (() => unknown)[] = [];
let certificates: TestCertificates;
let pair: { readonly cert: string; readonly key: string };
let authority: string;
before(async () => {
  certificates = await createCertificates();
  pair = { cert: await readFile(certificates.certFile, "utf8"), key: await readFile(certificates.keyFile, "utf8") };
  authority = await readFile(certificates.caFile, "utf8");
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
after(() => certificates.remove());

function clientWith(options: Partial<Parameters<typeof createOutboundClient>[0]> = {}) {
  const trusted = { allow: ["127.0.0.1:*"], clock: systemClock, certificateAuthorities: [authority] };
  const client = createOutboundClient({ ...trusted, http2: true, ...options });
  cleanups.push(() => client.close());
  const post = (url: string, more: Partial<Parameters<typeof client.request>[0]> = {}) =>
    client.request({ url, method: "POST", body: "{}", deadlineMs: 60_000, responseBytesMax: 1000, ...more });
  return { client, post };
}

async function receive(answer: (stream: FrameStream) => void, more: object = {}) {
  const receiver = await startFrameReceiver({ ...pair, ...more }, answer);
  cleanups.push(() => receiver.close());
  return receiver;
}

const ok = (stream: FrameStream) => stream.head("200", [], true);

test("HTTP/2 is used with a server that chooses it, only when enabled, and HTTP/1.1 with every other", async () => {
  const serve = async (ALPNProtocols: readonly string[]) => {
    const server = createServer({ ...pair, ALPNProtocols: [...ALPNProtocols] }, ({ httpVersion }, response) =>
      response.end(httpVersion),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => server.closeAllConnections());
    cleanups.push(() => server.close());
    return `https://localhost:${(server.address() as AddressInfo).port}/`;
  };
  const both = await receive(({ socket, head }) => head("200", [["x-protocol", String(socket.alpnProtocol)]], true));
  assert.equal((await clientWith().post(both.url)).headers["x-protocol"], "h2");
  const { post } = clientWith();
  assert.equal((await post(await serve(["http/1.1"]))).body.toString(), "1.1");
  assert.equal((await clientWith({ http2: false }).post(await serve(["h2", "http/1.1"]))).body.toString(), "1.1");
});

test("a server that demands HTTP/1.1 gets it, directly from the next request on", async () => {
  const versions: string[] = [];
  const server = createSecureServer({ ...pair, allowHTTP1: true }, (request, response) => {
    versions.push(request.httpVersion);
    if (request.httpVersionMajor === 1) response.end("here");
    else request.stream.close(constants.NGHTTP2_HTTP_1_1_REQUIRED);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close());
  const { post } = clientWith();
  const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
  for (let count = 0; count < 2; count++) assert.equal((await post(url)).body.toString(), "here");
  assert.deepEqual(versions, ["2.0", "1.1", "1.1"]);
});

test("exchanges share a connection up to the server's limit, and open another beyond it", async () => {
  const open = new Map<TLSSocket, FrameStream[]>();
  let atOnceMax = 0;
  const { url, sockets } = await receive(
    (stream) => {
      const streams = [...(open.get(stream.socket) ?? []), stream];
      open.set(stream.socket, streams);
      atOnceMax = Math.max(atOnceMax, streams.length);
      if ([...open.values()].flat().length === 20) for (const one of [...open.values()].flat()) ok(one);
    },
    { streamsMax: 5 },
  );
  const { post } = clientWith({ connectionsPerOriginMax: 20 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(url)));
  assert.ok(answers.every(({ status }) => status === 200));
  assert.equal(atOnceMax, 5);
  assert.ok(sockets.length >= 4 && sockets.length <= 20, `${sockets.length} connections`);
});

test("the exchange that opened a connection has its timing, later ones do not", async () => {
  const { url, sockets } = await receive(ok);
  const { post } = clientWith();
  const answers = [...(await Promise.all([post(url), post(url), post(url)])), await post(url)];
  assert.equal(answers.filter(({ timing }) => timing.opened !== null).length, 1);
  const opened = answers.flatMap(({ timing }) => timing.opened ?? [])[0];
  assert.ok((opened?.tlsMs ?? 0) > 0);
  assert.equal(sockets.length, 1);
});

test("a connection with a late answer only finishes its running exchanges", async () => {
  const streams: FrameStream[] = [];
  const { url, sockets } = await receive((stream) => void streams.push(stream));
  const { post } = clientWith();
  const patient = post(url);
  await eventually(() => streams.length === 1);
  const late = await failureOf(post(url, { deadlineMs: 200 }));
  assert.deepEqual([late.stage, late.during, late.remoteAddress], ["deadline", "request", "127.0.0.1"]);
  const next = post(url);
  await eventually(() => streams.length === 3);
  assert.equal(sockets.length, 2);
  for (const stream of streams) ok(stream);
  assert.deepEqual([(await patient).status, (await next).status], [200, 200]);
});

test("a request that meets the end of its connection is sent on another", async () => {
  const { url, sockets } = await receive((stream) => {
    if (sockets.length > 1) return ok(stream);
    stream.head("200", [["content-length", "2"]]);
    stream.data("more than two", true);
  });
  const { post } = clientWith();
  const first = await post(url, { bodyGraceMs: 60_000, whenTooLarge: "truncate" });
  assert.deepEqual([first.status, first.truncated], [200, true]);
  assert.equal((await post(url)).status, 200);
  assert.equal(sockets.length, 2);
});

test("a request on a closing connection is sent again once, not lost", async () => {
  const { url, sockets } = await receive((stream) => {
    if (sockets.length === 1) return stream.goAway(0, 0);
    ok(stream);
    stream.goAway(stream.id, 0);
  });
  const { post } = clientWith();
  for (let count = 0; count < 3; count++) assert.equal((await post(url)).status, 200);
  const refusing = await receive((stream) => stream.goAway(0, 0));
  const refused = await failureOf(post(refusing.url));
  assert.deepEqual([refused.stage, refused.code, refusing.sockets.length], ["request", "closed", 2]);
});

test("a server that limits requests per connection gets each request once", async () => {
  const [perConnection, atOnce] = [20, 10];
  const onConnection = new Map<TLSSocket, number>();
  let taken = 0;
  const { url, sockets } = await receive((stream) => {
    const number = (onConnection.get(stream.socket) ?? 0) + 1;
    onConnection.set(stream.socket, number);
    if (number > perConnection) return; // not processed, as its GOAWAY says
    taken++;
    if (number === perConnection) stream.goAway(stream.id, 0);
    setImmediate(() => ok(stream));
  });
  const { post } = clientWith();
  for (let round = 0; round < 10; round++) {
    const answers = await Promise.all(Array.from({ length: atOnce }, () => post(url)));
    assert.ok(answers.every(({ status }) => status === 200));
  }
  assert.equal(taken, 10 * atOnce);
  assert.ok(sockets.length >= 5);
});

test("requests to a server that allows no streams wait unsent until their deadline", async () => {
  let requests = 0;
  const { url } = await receive(() => void requests++, { streamsMax: 0 });
  const { post } = clientWith();
  // One may leave before the server has announced the limit.
  await failureOf(post(url, { deadlineMs: 300 }));
  const sent = requests;
  assert.equal((await failureOf(post(url, { deadlineMs: 300 }))).stage, "deadline");
  assert.ok(requests - sent <= 1);
});

test("an idle connection is closed after its time", async () => {
  const { url, sockets } = await receive(ok);
  await clientWith({ idleTimeoutMs: 50 }).post(url);
  await once(sockets[0] as TLSSocket, "close");
});

test("certificates are read once for all connections", async (t) => {
  const server = createServer(pair, (_request, response) => response.setHeader("connection", "close").end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close());
  const { post } = clientWith({ http2: false });
  // Node's call for a connection without a context.
  const read = t.mock.method(tls, "createSecureContext");
  for (let count = 0; count < 3; count++) {
    await post(`https://localhost:${(server.address() as AddressInfo).port}/`);
  }
  assert.equal(read.mock.callCount(), 0);
});

test("a connection is shared only by requests with the same certificate", async () => {
  const { url, sockets } = await receive(
    ({ socket, head }) => head("200", [["x-name", String(socket.getPeerCertificate().subject?.CN)]], true),
    { clientAuthority: authority },
  );
  const { post } = clientWith();
  const certificateOf = async (name: string) => {
    const { certFile, keyFile } = await certificates.issue(name);
    return { certificate: await readFile(certFile, "utf8"), key: await readFile(keyFile, "utf8") };
  };
  const [ada, bob] = [await certificateOf("ada"), await certificateOf("bob")];
  for (const [name, clientCertificate] of [["ada", ada] as const, ["bob", bob] as const, ["ada", ada] as const]) {
    assert.equal((await post(url, { clientCertificate })).headers["x-name"], name);
  }
  assert.equal(sockets.length, 2);
});

test("a port that becomes this process's own is refused although a connection to it is open", async () => {
  const { url } = await receive(ok);
  const own: number[] = [];
  const { post } = clientWith({ refusePorts: () => own });
  assert.equal((await post(url)).status, 200);
  own.push(Number(new URL(url).port));
  assert.equal((await failureOf(post(url))).code, "own_port");
});

test("Node reports only the first of two Retry-After headers over HTTP/2, a reason to keep it off by default", async () => {
  const headers = ["5", "9"].map((seconds) => ["retry-after", seconds] as const);
  const { url } = await receive(({ head }) => head("503", headers, true));
  assert.equal((await clientWith().post(url)).headers["retry-after"], "5");
});

/** Sends frames as long as the peer takes them. */
function flood(stream: FrameStream, type: number, payload: Buffer, id?: number): void {
  const write = () => {
    while (!stream.socket.destroyed && !stream.socket.writableNeedDrain) stream.frame(type, 0, payload, id);
  };
  stream.socket.on("drain", write);
  write();
}

const floods: readonly (readonly [string, (stream: FrameStream) => void, string])[] = [
  ["frames of an unknown type", (stream) => flood(stream, 0x42, Buffer.alloc(16_000), 0), "malformed"],
  ["pings", (stream) => flood(stream, 6, Buffer.alloc(8), 0), "malformed"],
  ["a head that does not end", (stream) => flood(stream, 9, Buffer.from("\0\x01a\x01b")), "malformed"],
];
for (const [name, begin, code] of floods) {
  test(`a server that floods a connection with ${name} is cut off`, async () => {
    const { url, sockets } = await receive((stream) => {
      if (name.startsWith("a head")) stream.frame(1, 0, Buffer.from("\x88"));
      begin(stream);
    });
    const error = await failureOf(clientWith().post(url));
    assert.deepEqual([error.stage, error.code], ["response", code]);
    await eventually(() => sockets.every(({ destroyed }) => destroyed));
  });
}

test("a server that keeps sending an abandoned body is cut off", async () => {
  const { url, sockets } = await receive((stream) => {
    stream.head("200");
    flood(stream, 0, Buffer.alloc(16_000));
  });
  const { status, truncated } = await clientWith().post(url, { whenTooLarge: "truncate" });
  assert.deepEqual([status, truncated], [200, true]);
  await eventually(() => sockets.every(({ destroyed }) => destroyed));
});
