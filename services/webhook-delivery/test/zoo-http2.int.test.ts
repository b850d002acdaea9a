// Own process: the certificates that a process trusts are read once, at its first connection.
import assert from "node:assert/strict";
import { constants } from "node:http2";
import { after, before, test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { type FrameStream, headersOf, startFrameReceiver, testPerson } from "@signalbox/testing";
import { type Harness, startDelivery } from "./harness.ts";
import { trustedPair } from "./trusted-pair.ts";
import { plainStatuses, type Row, visitZoo } from "./zoo.ts";

let delivery: Harness;
let pair: Awaited<ReturnType<typeof trustedPair>>;
before(async () => {
  pair = await trustedPair();
  delivery = await startDelivery({ "webhook-delivery.outbound.http2": "true" });
});
after(() => delivery.close());

/** Behaviour of a receiver once it has the whole request. */
type Animal = (stream: FrameStream) => void;

async function keep(animal: Animal) {
  const { url, sockets, close } = await startFrameReceiver(pair, animal);
  return { url, connections: () => sockets.length, close };
}

type Headers = Parameters<FrameStream["head"]>[1];

const plain =
  (status: string, headers: Headers = []): Animal =>
  ({ head }) =>
    head(status, headers, true);
const says =
  (body: string | Buffer, headers: Headers = []): Animal =>
  (stream) => {
    stream.head("200", headers);
    pieces(stream, body, true);
  };
/** Sends in frames of the size that every peer accepts. */
const pieces = ({ data }: FrameStream, body: string | Buffer, ends: boolean) => {
  const bytes = Buffer.from(body as Buffer);
  for (let at = 0; at < bytes.length; at += 16_384) {
    data(bytes.subarray(at, at + 16_384), ends && at + 16_384 >= bytes.length);
  }
};
const encoded = (encoding: string, body: Buffer) => says(body, [["content-encoding", encoding]]);
/** Sends less of the body than announced. */
const begins =
  (then: Animal): Animal =>
  (stream) => {
    stream.head("200", [["content-length", "10"]]);
    stream.data("abc");
    then(stream);
  };
const resets =
  (code: number): Animal =>
  ({ reset }) =>
    reset(code);
const {
  NGHTTP2_NO_ERROR: noError,
  NGHTTP2_PROTOCOL_ERROR: protocolError,
  NGHTTP2_INTERNAL_ERROR: internalError,
  NGHTTP2_REFUSED_STREAM: refusedStream,
  NGHTTP2_CANCEL: cancel,
  NGHTTP2_ENHANCE_YOUR_CALM: enhanceYourCalm,
  NGHTTP2_HTTP_1_1_REQUIRED: http11Required,
} = constants;
const manyHeaders = (count: number, value = "1"): Headers =>
  Array.from({ length: count }, (_, at) => [`x-${at}`, value] as const);

/** Sends in as many frames as needed. */
const longHead: Animal = ({ frame }) => {
  const block = headersOf([[":status", "200"], ...(manyHeaders(40, "a".repeat(1_750)) ?? [])]);
  for (let at = 0; at < block.length; at += 16_000) {
    const isLast = at + 16_000 >= block.length;
    frame(at === 0 ? 1 : 9, isLast ? 4 : 0, block.subarray(at, at + 16_000));
  }
};

const statuses: readonly Row<Animal>[] = plainStatuses.map((status) => [
  `answers ${status}`,
  plain(status, status.startsWith("30") ? [["location", "/elsewhere"]] : []),
  [status, 1],
]);

/** Sends interim answers before the final one. */
const firstSays =
  (...statusesBefore: readonly string[]): Animal =>
  ({ head }) => {
    for (const status of statusesBefore) head(status);
    head("200", [], true);
  };
const earlyAnswer: Animal = ({ head, reset }) => {
  head("413", [], true);
  reset(noError);
};

const bodies: readonly Row<Animal>[] = [
  ["answers 204", plain("204"), ["204", 1]],
  ["has a body", says("thanks"), ["200", 1]],
  ["has a body of the length that it said", says("thanks", [["content-length", "6"]]), ["200", 1]],
  [
    "has trailers",
    (stream) => {
      stream.head("200");
      stream.data("a");
      stream.head(null, [["x-sum", "1"]], true);
    },
    ["200", 1],
  ],
  ["has 60 KB", says("x".repeat(60_000)), ["200", 1]],
  ["has 500 KB", says("x".repeat(500_000)), ["200", 1]],
  ["drips", (stream) => drips(stream), ["200", 1]],
  ["stalls in its body", begins(() => {}), ["200", 1]],
  ["resets its body", begins(resets(internalError)), ["200", 1]],
  ["ends its body early", begins(({ data }) => data("", true)), ["200", 1]],
  ["closes in its body", begins(({ socket }) => socket.end()), ["200", 2]],
  ["says more than it announced", says("more than two", [["content-length", "2"]]), ["200", 2]],
  ["has gzip", encoded("gzip", gzipSync("thanks")), ["200", 1]],
  ["has deflate", encoded("deflate", deflateSync("thanks")), ["200", 1]],
  ["has br", encoded("br", brotliCompressSync("thanks")), ["200", 1]],
  ["has zstd", encoded("zstd", zstdCompressSync("thanks")), ["200", 1]],
  ["has a bomb", encoded("gzip", gzipSync(Buffer.alloc(20_000_000))), ["200", 1]],
  ["lies about gzip", encoded("gzip", Buffer.from("thanks")), ["200", 1]],
  ["has bytes that are no text", says(Buffer.from([0, 255, 254, 0, 128])), ["200", 1]],
  ["says 100 first", firstSays("100"), ["200", 1]],
  ["says 102 and 103 first", firstSays("102", "103"), ["200", 1]],
  ["ends the stream as soon as it has answered", earlyAnswer, ["413", 1]],
];

/** Sends something every 50 ms until the peer closes. */
function drips({ head, data, socket }: FrameStream): void {
  head("200");
  const timer = setInterval(() => data("x"), 50);
  socket.on("close", () => clearInterval(timer));
}

/** Ends the connection with GOAWAY, which names the last stream it has processed. */
const goesAway =
  (lastStream: (own: number) => number, code: number, then: Animal = () => {}): Animal =>
  (stream) => {
    stream.goAway(lastStream(stream.id), code);
    then(stream);
  };
const own = (id: number) => id;
const nothing = () => 0;

const endings: readonly Row<Animal>[] = [
  ["goes away and answers", goesAway(own, noError, plain("200")), ["200", 2]],
  ["is about to go away, and answers", goesAway(() => 2 ** 31 - 1, noError, plain("200")), ["200", 2]],
  [
    "answers and goes away",
    (stream) => {
      stream.head("200", [], true);
      stream.goAway(stream.id, noError);
    },
    ["200", 2],
  ],
  // Twice each: an unprocessed request is sent once more.
  ["goes away before every request", goesAway(nothing, noError), ["closed request", 4]],
  ["goes away with an error, and took nothing", goesAway(nothing, enhanceYourCalm), ["closed request", 4]],
  ["goes away with an error", goesAway(own, enhanceYourCalm, ({ socket }) => socket.end()), ["closed request", 2]],
  ["closes without a word", ({ socket }) => socket.end(), ["closed request", 2]],
  ["ends the stream without an answer", resets(noError), ["closed request", 1]],
  ["cancels", resets(cancel), ["closed request", 1]],
  ["breaks down", resets(internalError), ["reset request", 1]],
  ["refuses the stream, twice", resets(refusedStream), ["reset request", 1]],
  ["wants less", resets(enhanceYourCalm), ["reset request", 1]],
  // The peer asks for HTTP/1.1.
  ["wants HTTP/1.1", resets(http11Required), ["tls tls", 1]],
  ["calls the request malformed", resets(protocolError), ["malformed response", 1]],
];

const failures: readonly Row<Animal>[] = [
  ["never gets to the point", firstSays(...Array.from({ length: 9 }, () => "103")), ["too-many-interim response", 1]],
  ["changes the protocol", ({ head }) => head("101"), ["malformed response", 1]],
  ["speaks HTTP/1.1", ({ socket }) => socket.write("HTTP/1.1 200 OK\r\n\r\n"), ["malformed response", 2]],
  ["speaks something else", ({ socket }) => socket.write("SSH-2.0-OpenSSH_9.2\r\n"), ["malformed response", 2]],
  ["has no status", ({ head }) => head(null, [["x", "1"]], true), ["malformed response", 1]],
  ["has a status of two digits", plain("20"), ["malformed response", 1]],
  ["has a header in capitals", plain("200", [["X-A", "1"]]), ["malformed response", 1]],
  ["speaks of the connection", plain("200", [["connection", "close"]]), ["malformed response", 1]],
  ["has a hundred and one headers", plain("200", manyHeaders(101)), ["too-many-headers response", 1]],
  ["has two hundred headers", plain("200", manyHeaders(200)), ["reset request", 1]],
  ["has a head of 70 KiB", longHead, ["head-too-large response", 1]],
  ["hangs", () => {}, ["deadline request", 2]],
];

test("receivers of HTTP/2 lead to the expected status, error and phase, with no more connections than needed", async () => {
  const rows = [...statuses, ...bodies, ...endings, ...failures];
  assert.ok(rows.length >= 60);
  await visitZoo(delivery, testPerson(), rows, keep);
});
