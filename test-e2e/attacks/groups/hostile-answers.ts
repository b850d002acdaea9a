import { deflateSync, gzipSync } from "node:zlib";
import type { HostileAnswer } from "../scene/hostile-server.ts";

const head = (...lines: string[]): string => ["HTTP/1.1 200 OK", ...lines].join("\r\n").concat("\r\n\r\n");
const chunk = "x".repeat(64 * 1024);

function* endless(start: string, part: string | Buffer): Generator<string | Buffer> {
  yield start;
  for (;;) yield part;
}
const once =
  (...parts: readonly (string | Buffer)[]): HostileAnswer =>
  () =>
    parts;
const flood =
  (start: string, part: string | Buffer): HostileAnswer =>
  () =>
    endless(start, part);

const redirect = (location: string): string =>
  `HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`;

/** Answers that are endless, truncated, or malformed. */
export const hostileAnswers: Readonly<Record<string, HostileAnswer>> = {
  "an endless reason": flood("HTTP/1.1 200 ", chunk),
  "an endless status": flood("HTTP/1.1 2", "0".repeat(65_536)),
  "an endless header": flood("HTTP/1.1 200 OK\r\nx-a: ", chunk),
  "an endless header name": flood("HTTP/1.1 200 OK\r\n", chunk),
  "headers without an end": flood("HTTP/1.1 200 OK\r\n", `${"x-a: b\r\n".repeat(8_000)}`),
  "answers 100 without an end": flood("", "HTTP/1.1 100 Continue\r\n\r\n".repeat(2_000)),
  "answers 102 without an end": flood("", "HTTP/1.1 102 Processing\r\n\r\n".repeat(2_000)),
  "answers 103 without an end": flood("", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(2_000)),
  "another protocol": flood("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", chunk),
  "empty lines without an end": flood("", "\r\n".repeat(32_000)),
  "a body without an end": flood(head("content-type: image/jpeg"), chunk),
  "chunks without an end": flood(head("transfer-encoding: chunked"), `10000\r\n${chunk}\r\n`),
  "chunks of one byte without an end": flood(head("transfer-encoding: chunked"), "1\r\nx\r\n".repeat(10_000)),
  "a chunk extension without an end": flood(`${head("transfer-encoding: chunked")}1;`, chunk),
  "trailers without an end": flood(`${head("transfer-encoding: chunked")}0\r\n`, "x-a: b\r\n".repeat(8_000)),
  "a length of a terabyte": flood(head(`content-length: ${2 ** 40}`), chunk),
  "a zipped body without an end": flood(head("content-encoding: gzip"), gzipSync(Buffer.alloc(8 * 1024 * 1024))),
  "a brotli body": once(head("content-encoding: br", "content-length: 4"), "abcd"),
  "a chunk of a negative size": once(head("transfer-encoding: chunked"), "-1\r\nx\r\n"),
  "a chunk of a huge size": once(head("transfer-encoding: chunked"), `${"f".repeat(16)}\r\nx`),
  "a length and chunks": once(head("content-length: 3", "transfer-encoding: chunked"), "3\r\nabc\r\n0\r\n\r\n"),
  "two lengths": once(head("content-length: 3", "content-length: 4"), "abcd"),
  "a negative length": once(head("content-length: -3"), "abc"),
  "a length that is no number": once(head("content-length: x"), "abc"),
  "a body that is shorter than its length": once(head("content-length: 100"), "abc"),
  "two answers": once(head("content-length: 3"), `abc${head("content-length: 3")}def`),
  "bare line feeds": once("HTTP/1.1 200 OK\ncontent-length: 3\n\nabc"),
  "a header with U+0000": once("HTTP/1.1 200 OK\r\nx-a: a\0b\r\ncontent-length: 3\r\n\r\nabc"),
  "a folded header": once("HTTP/1.1 200 OK\r\nx-a: a\r\n b\r\ncontent-length: 3\r\n\r\nabc"),
  "no head": once("the crown jewels"),
  nothing: once(),
  "half a head": once("HTTP/1.1 200 OK\r\ncontent-le"),
  "HTTP/2": once(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])),
  "an alert of TLS": once(Buffer.from([0x15, 3, 3, 0, 2, 2, 0x28])),
  "the status 99": once("HTTP/1.1 099 x\r\ncontent-length: 0\r\n\r\n"),
  "the status 600": once("HTTP/1.1 600 x\r\ncontent-length: 0\r\n\r\n"),
  "a version of its own": once("HTTP/7.7 200 OK\r\ncontent-length: 0\r\n\r\n"),
  "a redirect to itself": (path, url) => [redirect(`${url}${path}`)],
  "a redirect that grows": (path, url) => [redirect(`${url}${path}a`)],
  "a redirect to a file": once(redirect("file:///etc/passwd")),
  "a redirect to nowhere": once("HTTP/1.1 302 Found\r\nlocation: http://\r\ncontent-length: 0\r\n\r\n"),
  "a redirect of a hundred kilobytes": (_path, url) => [redirect(`${url}/${"a".repeat(100_000)}`)],
  "a head that drips": () => drips("HTTP/1.1 200 OK\r\nx-a: "),
};

/** An endless head, and then an open connection without a byte. */
function* drips(start: string): Generator<string | Buffer> {
  yield start;
  yield "";
}

function pngChunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(type, "latin1"), data, Buffer.alloc(4)]);
}

function png(width: number, height: number, data: Buffer): Buffer {
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  size.set([8, 6, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, pngChunk("IHDR", size), pngChunk("IDAT", data), pngChunk("IEND", Buffer.alloc(0))]);
}

/** Files that are not images, or that decompress to far more than their size. */
export const hostileFiles: Readonly<Record<string, Buffer>> = {
  "a PNG of four thousand megapixels": png(65_535, 65_535, deflateSync(Buffer.alloc(1_024))),
  "a PNG that unpacks to sixty-four megabytes": png(10, 10, deflateSync(Buffer.alloc(64 * 1024 * 1024))),
  "a PNG of no width": png(0, 10, deflateSync(Buffer.alloc(16))),
  "a PNG of negative width": png(0xffffffff, 10, deflateSync(Buffer.alloc(16))),
  "an SVG that reads a file": Buffer.from(
    '<?xml version="1.0"?><!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg">&x;</svg>',
  ),
  "an SVG with script": Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
  "an XML that doubles": Buffer.from(
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "a"><!ENTITY b "&a;&a;"><!ENTITY c "&b;&b;">]><a>&c;</a>',
  ),
  "a page": Buffer.from("<!doctype html><script>alert(1)</script>"),
  "a page behind the signature of a GIF": Buffer.from("GIF89a<script>alert(1)</script>"),
  "a page behind the signature of a JPEG": Buffer.concat([
    Buffer.from([0xff, 0xd8, 0xff, 0xe0]),
    Buffer.from("<script>alert(1)</script>"),
  ]),
  "an archive": Buffer.from("PK\u0003\u0004aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "latin1"),
  "a PDF": Buffer.from("%PDF-1.7\n1 0 obj"),
  PostScript: Buffer.from("%!PS-Adobe-3.0\n(/etc/passwd) (r) file"),
  "a script of ImageMagick": Buffer.from("push graphic-context\nimage over 0,0 0,0 'url(http://127.0.0.1/)'"),
  "a program": Buffer.concat([Buffer.from("\x7fELF\x02\x01\x01", "latin1"), Buffer.alloc(200)]),
  nothing: Buffer.alloc(0),
};
