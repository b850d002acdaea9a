import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { MiB } from "@signalbox/core";
import kafkajs from "kafkajs";
import { compressFrame } from "lz4-napi";
import { compress } from "snappy";
import { installCodecs } from "./codecs.ts";

installCodecs();
const { CompressionCodecs, CompressionTypes } = kafkajs;

/** Writes blocks as the Java library's stream does. */
async function javaStream(blocks: readonly Buffer[]): Promise<Buffer> {
  const header = Buffer.from([0x82, ...Buffer.from("SNAPPY"), 0, 0, 0, 0, 1, 0, 0, 0, 1]);
  const parts = blocks.map(async (block) => {
    const compressed = await compress(block);
    const size = Buffer.alloc(4);
    size.writeInt32BE(compressed.length);
    return Buffer.concat([size, compressed]);
  });
  return Buffer.concat([header, ...(await Promise.all(parts))]);
}

const text = Buffer.concat([Buffer.from("signalbox ".repeat(20_000)), randomBytes(100_000)]);
const forms = {
  gzip: [CompressionTypes.GZIP, (data: Buffer) => gzipSync(data)],
  zstd: [CompressionTypes.ZSTD, (data: Buffer) => zstdCompressSync(data)],
  lz4: [CompressionTypes.LZ4, (data: Buffer) => compressFrame(data, { blockChecksums: true })],
  snappy: [CompressionTypes.Snappy, (data: Buffer) => compress(data)],
  "snappy of Java": [
    CompressionTypes.Snappy,
    (data: Buffer) => javaStream([data.subarray(0, 999), data.subarray(999)]),
  ],
} as const;

for (const [name, [type, write]] of Object.entries(forms)) {
  const decompress = (compressed: Buffer): Promise<Buffer> => CompressionCodecs[type]().decompress(compressed);

  test(`a batch in ${name} is decompressed`, async () => {
    assert.ok(text.equals(await decompress(await write(text))));
  });

  test(`a bomb in ${name} is refused`, async () => {
    const bomb = await write(Buffer.alloc(64 * MiB));
    await assert.rejects(decompress(bomb), { name: "BatchTooLarge" });
  });

  test(`a damaged batch in ${name} is an error`, async () => {
    const whole = await write(text);
    await assert.rejects(decompress(whole.subarray(0, whole.length >> 1)));
  });
}

/** 200,000 bytes as `lz4 -B4 -BD --no-frame-crc` writes them; `(n)` stands for n bytes of 0xff. */
const linkedFrame =
  "04224d184040c014010000af7369676e616c626f78200a00(256)de5069676e616c0a0100000ffa(257)e8506f7820736914010000af676e616c626f782073690a00(256)de506e616c626f170000000ffa(14)35506c626f782000000000".replace(
    /\((\d+)\)/g,
    (_, count) => "ff".repeat(Number(count)),
  );

test("an LZ4 frame whose blocks are linked is decompressed", async () => {
  const { decompress } = CompressionCodecs[CompressionTypes.LZ4]();
  const decoded: Buffer = await decompress(Buffer.from(linkedFrame, "hex"));
  assert.ok(Buffer.from("signalbox ".repeat(20_000)).equals(decoded));
});
