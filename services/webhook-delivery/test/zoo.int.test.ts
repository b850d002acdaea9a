import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { delivery, shareOneService, who } from "./one-service.ts";
import { plainStatuses, type Row, visitZoo } from "./zoo.ts";

shareOneService();

/** Behaviour of a receiver once it has the whole request. */
type Animal = (socket: Socket) => void;

/** A TCP server that answers with any bytes, and counts its connections. */
async function keep(animal: Animal) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    let held = "";
    socket.on("data", (chunk) => {
      held += chunk.toString("latin1");
      const head = held.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(held)?.[1] ?? Number.NaN);
      if (head === -1 || !(held.length >= head + 4 + length)) return;
      held = "";
      animal(socket);
    });
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return {
    url: `http://127.0.0.1:${address.port}/`,
    connections: () => connections,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const plain =
  (status: string, more = ""): Animal =>
  (socket) =>
    socket.write(`HTTP/1.1 ${status}\r\n${more}content-length: 0\r\n\r\n`);
const says =
  (...parts: (string | Buffer)[]): Animal =>
  (socket) => {
    for (const part of parts) socket.write(part);
  };
const ok = "HTTP/1.1 200 OK\r\n";
const sized = (body: string | Buffer, more = "") => [`${ok}${more}content-length: ${body.length}\r\n\r\n`, body];
const thenCloses =
  (...parts: (string | Buffer)[]): Animal =>
  (socket) => {
    says(...parts)(socket);
    socket.end();
  };
/** Sends something every 50 ms until the peer closes. */
const drips =
  (first: string, drop: string): Animal =>
  (socket) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(drop), 50);
    socket.on("close", () => clearInterval(timer));
  };
const manyHeaders = Array.from({ length: 101 }, (_, at) => `x-${at}: 1\r\n`).join("");

const statuses: readonly Row<Animal>[] = plainStatuses.map((status) => [
  `answers ${status}`,
  plain(`${status} X`, status.startsWith("30") ? "location: /elsewhere\r\n" : ""),
  [status, 1],
]);

const bodies: readonly Row<Animal>[] = [
  ["answers 204 without a length", says("HTTP/1.1 204 X\r\n\r\n"), ["204", 1]],
  ["has no reason", says("HTTP/1.1 200 \r\ncontent-length: 0\r\n\r\n"), ["200", 1]],
  ["has a body", says(...sized("thanks")), ["200", 1]],
  ["has a body in chunks", says(`${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`), ["200", 1]],
  ["has trailers", says(`${ok}transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx-sum: 1\r\n\r\n`), ["200", 1]],
  ["has 60 KB", says(...sized("x".repeat(60_000))), ["200", 1]],
  ["has 500 KB", says(...sized("x".repeat(500_000))), ["200", 2]],
  ["wants no other request", says(`${ok}connection: close\r\ncontent-length: 0\r\n\r\n`), ["200", 2]],
  ["ends its body by closing", thenCloses(`${ok}\r\nthanks`), ["200", 2]],
  ["speaks HTTP/1.0", thenCloses("HTTP/1.0 200 OK\r\n\r\nthanks"), ["200", 2]],
  ["drips", drips(`${ok}content-length: 100000\r\n\r\n`, "x"), ["200", 2]],
  ["stalls in its body", says(`${ok}content-length: 10\r\n\r\nabc`), ["200", 2]],
  ["breaks off its body", thenCloses(`${ok}content-length: 10\r\n\r\nabc`), ["200", 2]],
  ["breaks off a chunk", thenCloses(`${ok}transfer-encoding: chunked\r\n\r\nff\r\nabc`), ["200", 2]],
  ["says more than it announced", says(`${ok}content-length: 2\r\n\r\nok`, "HTTP/1.1 200 OK\r\n\r\n"), ["200", 2]],
  ["has gzip", says(...sized(gzipSync("thanks"), "content-encoding: gzip\r\n")), ["200", 1]],
  ["has deflate", says(...sized(deflateSync("thanks"), "content-encoding: deflate\r\n")), ["200", 1]],
  ["has br", says(...sized(brotliCompressSync("thanks"), "content-encoding: br\r\n")), ["200", 1]],
  ["has zstd", says(...sized(zstdCompressSync("thanks"), "content-encoding: zstd\r\n")), ["200", 1]],
  ["has a bomb", says(...sized(gzipSync(Buffer.alloc(20_000_000)), "content-encoding: gzip\r\n")), ["200", 1]],
  ["lies about gzip", says(...sized("thanks", "content-encoding: gzip\r\n")), ["200", 1]],
  ["has bytes that are no text", says(...sized(Buffer.from([0, 255, 254, 0, 128]))), ["200", 1]],
  ["says 100 first", says("HTTP/1.1 100 Continue\r\n\r\n", ...sized("ok")), ["200", 1]],
  [
    "says 102 and 103 first",
    says("HTTP/1.1 102 X\r\n\r\nHTTP/1.1 103 X\r\nlink: a\r\n\r\n", ...sized("ok")),
    ["200", 1],
  ],
];

const failures: readonly Row<Animal>[] = [
  ["never gets to the point", says("HTTP/1.1 103 X\r\n\r\n".repeat(9)), ["too-many-interim response", 2]],
  ["changes the protocol", says("HTTP/1.1 101 X\r\nupgrade: x\r\n\r\n"), ["upgrade response", 2]],
  ["speaks something else", says("SSH-2.0-OpenSSH_9.2\r\n"), ["malformed response", 2]],
  ["has a status of two digits", says("HTTP/1.1 20 OK\r\n\r\n"), ["malformed response", 2]],
  ["ends lines with a line feed alone", says("HTTP/1.1 200 OK\ncontent-length: 0\n\n"), ["malformed response", 2]],
  ["has a hundred and one headers", says(`${ok}${manyHeaders}\r\n`), ["too-many-headers response", 2]],
  ["has a head of 70 KiB", says(`${ok}x: ${"a".repeat(70_000)}\r\n\r\n`), ["head-too-large response", 2]],
  ["closes without a word", thenCloses(), ["closed request", 2]],
  ["resets", (socket) => socket.resetAndDestroy(), ["ECONNRESET request", 2]],
  ["hangs", () => {}, ["deadline request", 2]],
  ["drips its head", drips("HTTP/1.1 200 OK\r\n", "x"), ["deadline request", 2]],
];

test("receivers of every kind lead to the expected status, error and phase, with no more connections than needed", async () => {
  const rows = [...statuses, ...bodies, ...failures];
  assert.ok(rows.length >= 60);
  await visitZoo(delivery, who, rows, keep);
});
