import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { decodeBody } from "./decode-body.ts";

const text = Buffer.from('{"id":"d-1"}');

test("each coding is decoded, and without one the bytes stay", async () => {
  for (const [coding, body] of [
    [undefined, text],
    ["identity", text],
    ["gzip", gzipSync(text)],
    ["GZIP", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["br", brotliCompressSync(text)],
  ] as const) {
    assert.deepEqual(await decodeBody(body, coding, 1_000), { body: text }, coding);
  }
});

test("a body that decodes too large, is damaged or has another coding is refused", async () => {
  const bomb = gzipSync(Buffer.alloc(1_000_000));
  assert.deepEqual(await decodeBody(bomb, "gzip", 1_000), { problem: "size" });
  assert.deepEqual(await decodeBody(bomb.subarray(0, 20), "gzip", 1_000), { problem: "malformed" });
  assert.deepEqual(await decodeBody(text, "br", 1_000), { problem: "malformed" });
  assert.deepEqual(await decodeBody(text, "gzip, br", 1_000), { problem: "coding" });
});
