import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { responseBytesMax, responseText } from "./attempt-exchange.ts";

const encoders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync };

for (const [name, encode] of Object.entries(encoders)) {
  test(`an answer in ${name} is shown as it was written, up to the bound`, async () => {
    assert.equal(await responseText(encode(Buffer.from("down for maintenance")), name), "down for maintenance");
    const bomb = await responseText(encode(Buffer.alloc(50_000_000, "x")), name.toUpperCase());
    assert.equal(bomb, "x".repeat(responseBytesMax));
  });
}

test("a truncated answer, or one that is not encoded after all, is shown as far as it can be decoded", async () => {
  const whole = gzipSync(Buffer.from("a".repeat(100_000)));
  assert.equal(await responseText(Buffer.from("plain"), "gzip"), null);
  assert.equal(await responseText(Buffer.from("plain"), undefined), "plain");
  assert.equal(await responseText(Buffer.from("plain"), "exi"), "plain");
  assert.match((await responseText(whole.subarray(0, whole.length - 20), "gzip")) ?? "", /^a+$/);
  assert.equal(await responseText(Buffer.alloc(0), "gzip"), null);
  assert.equal(await responseText(Buffer.from("\0x"), undefined), "�x");
});
