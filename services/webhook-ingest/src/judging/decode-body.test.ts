import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { decodeBody } from "./decode-body.ts";

const text = Buffer.from('{"id":"d-1"}');

test("each coding is decoded, and without one the bytes stay", async () => {
  for (const [coding, body] of [
    [undefined, text],
    ["identity", text],
    ["gzip", gzipSync(text)],
    ["GZIP", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)],
    ["br", brotliCompressSync(text)],
  ] as const) {
    assert.deepEqual(await decodeBody(body, coding, 1_000), { body: text }, coding);
  }
});

test("a body that decodes too large, is damaged or has another coding stays as it came, with the problem", async () => {
  const [bomb, rawBomb] = [gzipSync(Buffer.alloc(1_000_000)), deflateRawSync(Buffer.alloc(1_000_000))];
  assert.deepEqual(await decodeBody(bomb, "gzip", 1_000), { body: bomb, problem: "size" });
  assert.deepEqual(await decodeBody(rawBomb, "deflate", 1_000), { body: rawBomb, problem: "size" });
  const broken = bomb.subarray(0, 20);
  assert.deepEqual(await decodeBody(broken, "gzip", 1_000), { body: broken, problem: "malformed" });
  assert.deepEqual(await decodeBody(text, "br", 1_000), { body: text, problem: "malformed" });
  assert.deepEqual(await decodeBody(text, "gzip, br", 1_000), { body: text, problem: "coding" });
});
