import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { after, test } from "node:test";
import { systemClock } from "@signalbox/core";
import { createOutboundClient } from "./outbound-client.ts";
import { failureOf } from "./test-failure.ts";

const cleanups: (() => unknown)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

const client = createOutboundClient({ allow: ["127.0.0.1:*"], clock: systemClock });
cleanups.push(() => client.close());

/** Listens on a port and passes on each connection after its first request. */
async function listen(onRequest: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    cleanups.push(() => socket.destroy());
    socket.on("error", () => {});
    socket.on("data", () => onRequest(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const get = (url: string, deadlineMs = 60_000) => client.request({ url, deadlineMs, responseBytesMax: 100_000 });

/** Writes the block as long as the peer takes it, and returns the number of bytes that the system accepted. */
function flood(socket: Socket, block: Buffer): Promise<number> {
  const write = () => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on("drain", write);
  write();
  return new Promise((resolve) => socket.on("close", () => resolve(socket.bytesWritten - socket.writableLength)));
}

const filler = Buffer.alloc(64 * 1024, "x");
const repeated = (text: string) => Buffer.from(text.repeat(Math.ceil(filler.length / text.length)));
const floodsAtOnce = 16;
/** Buffers of two sockets hold bytes that are sent but not read. Without the guard it would be gigabytes. */
const bytesSentMax = 16 * 1024 * 1024;

const floods: [string, { start: string; block: Buffer; code: string }][] = [
  ["a reason phrase without end", { start: "HTTP/1.1 200 ", block: filler, code: "head-too-large" }],
  ["a header without end", { start: "HTTP/1.1 200 OK\r\na: ", block: filler, code: "head-too-large" }],
  ["headers without end", { start: "HTTP/1.1 200 OK\r\n", block: repeated("a: b\r\n"), code: "too-many-headers" }],
  ["empty lines without end", { start: "", block: repeated("\r\n"), code: "head-too-large" }],
  ["answers below 200 without end", { start: "", block: repeated("HTTP/1.1 103 \r\n\r\n"), code: "too-many-interim" }],
  ["continue without end", { start: "", block: repeated("HTTP/1.1 100 \r\n\r\n"), code: "too-many-interim" }],
  ["data after a 101", { start: "HTTP/1.1 101 Other\r\n\r\n", block: filler, code: "upgrade" }],
  ["something that is no HTTP", { start: "SSH-2.0-x\r\n", block: filler, code: "malformed" }],
  [
    "a chunk extension without end",
    { start: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;", block: filler, code: "malformed" },
  ],
];
for (const [name, { start, block, code }] of floods) {
  test(`a server that sends ${name} is cut off early`, async () => {
    const sent: Promise<number>[] = [];
    const url = await listen((socket) => {
      socket.write(start);
      sent.push(flood(socket, block));
    });
    const errors = await Promise.all(Array.from({ length: floodsAtOnce }, () => failureOf(get(url))));
    for (const error of errors) {
      assert.deepEqual([error.stage, error.code, error.during], ["response", code, "response"]);
      assert.equal(error.remoteAddress, "127.0.0.1");
    }
    assert.equal(sent.length, floodsAtOnce);
    for (const bytes of await Promise.all(sent)) assert.ok(bytes < bytesSentMax, `${bytes} bytes were sent`);
  });
}

test("a connection with bytes between two answers is closed, not used again", async () => {
  const sockets = new Set<Socket>();
  const sent: Promise<number>[] = [];
  const url = await listen((socket) => {
    if (sockets.size === 0) {
      // The parser ignores the blank lines. They must come after the answer.
      socket.write("HTTP/1.1 204 OK\r\n\r\n", () => sent.push(flood(socket, repeated("\r\n"))));
    } else socket.write("HTTP/1.1 204 OK\r\n\r\n");
    sockets.add(socket);
  });
  assert.equal((await get(url)).status, 204);
  const [bytes] = await Promise.all(sent);
  assert.ok((bytes ?? Infinity) < bytesSentMax, `${bytes} bytes were sent`);
  assert.equal((await get(url)).status, 204);
  assert.equal(sockets.size, 2);
});

test("a dripping head ends with the deadline of the exchange", async () => {
  const url = await listen((socket) => {
    socket.write("HTTP/1.1 200 OK\r\na: ");
    const timer = setInterval(() => socket.write("x"), 5);
    socket.on("close", () => clearInterval(timer));
  });
  const error = await failureOf(get(url, 300));
  assert.deepEqual([error.stage, error.code, error.during], ["deadline", "deadline", "request"]);
});

test("interim answers are skipped, in any pieces", async () => {
  const whole =
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 \r\n\r\n" +
    "\r\nHTTP/1.1 201 Created\r\nx-a: 1\r\ncontent-length: 6\r\n\r\nanswer";
  for (const pieceBytes of [1, 7, 30, whole.length]) {
    const url = await listen(async (socket) => {
      socket.setNoDelay(true);
      for (let at = 0; at < whole.length; at += pieceBytes) {
        await new Promise((written) => socket.write(whole.slice(at, at + pieceBytes), written));
      }
    });
    // Twice on one connection: the second head is guarded like the first.
    for (const _ of [1, 2]) {
      const { status, headers, body } = await get(url);
      assert.deepEqual([status, headers["x-a"], headers.link, body.toString()], [201, "1", undefined, "answer"]);
    }
  }
});

test("a large answer arrives whole, in chunks of one byte under a head just below the bounds", async () => {
  const headers = Array.from({ length: 98 }, (_, index) => `h${index}: ${"v".repeat(600)}\r\n`).join("");
  const url = await listen((socket) => {
    const body = "1\r\nx\r\n".repeat(90_000);
    socket.write(`HTTP/1.1 200 OK\r\n${headers}transfer-encoding: chunked\r\n\r\n${body}0\r\n\r\n`);
  });
  const response = await get(url);
  assert.deepEqual([response.body.length, response.headers.h97?.length], [90_000, 600]);
});

test("a failed connection has one of our codes, never a library's", async () => {
  const closes = await listen((socket) => socket.destroy());
  const breaksOff = await listen((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"));
  const chunkBreaksOff = await listen((socket) =>
    socket.end("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nha"),
  );
  const halfAHead = await listen((socket) => socket.end("HTTP/1.1 200 OK\r\nx-a:"));
  const badChunk = await listen((socket) =>
    socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"),
  );
  const codes = new Map([
    [closes, ["request", "closed"]],
    [breaksOff, ["response", "closed"]],
    [chunkBreaksOff, ["response", "closed"]],
    [halfAHead, ["request", "closed"]],
    [badChunk, ["response", "malformed"]],
    [breaksOff.replace("http:", "https:"), ["tls", "tls"]],
  ]);
  for (const [url, expected] of codes) {
    const { stage, code } = await failureOf(get(url));
    assert.deepEqual([stage, code], expected, url);
  }
});
