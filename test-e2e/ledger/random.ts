import { createHash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";

/** Pseudo-random numbers that a seed reproduces on every machine. */
export interface Random {
  /** At least 0, less than 1. */
  next(): number;
  /** Returns an integer, both ends included. */
  between(least: number, most: number): number;
  pick<T>(items: readonly T[]): T;
  /** Creates a source for one purpose, so that draws elsewhere do not change its numbers. */
  fork(purpose: string): Random;
}

/** Mulberry32 over a hash of the seed: not for secrets. */
export function createRandom(seed: string): Random {
  let state = hash(seed);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    pick: (items) => items[between(0, items.length - 1)] as (typeof items)[number],
    fork: (purpose) => createRandom(`${seed}/${purpose}`),
  };
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193);
  return value;
}

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
