import { createHash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import type { Random } from "./random.ts";

const side = 16;

/** Creates a small PNG with random pixels, and the digest of its bytes. */
export function pictureOf(random: Random): { readonly bytes: Buffer; readonly sha256: string } {
  const row = () => Buffer.from([0, ...Array.from({ length: side * 3 }, () => random.between(0, 255))]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2, 0, 0, 0], 8); // eight bits, RGB
  const bytes = Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.concat(Array.from({ length: side }, row)))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
  return { bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data]);
  const numbers = Buffer.alloc(8);
  numbers.writeUInt32BE(data.length, 0);
  numbers.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([numbers.subarray(0, 4), named, numbers.subarray(4)]);
}
