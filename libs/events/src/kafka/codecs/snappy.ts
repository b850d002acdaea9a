import { tooManyBytes } from "./batch-too-large.ts";

/** The header of the Java library's stream: its name, and two versions of four bytes. Other clients send one bare block. */
const javaMagic = Buffer.from([0x82, ...Buffer.from("SNAPPY"), 0x00]);
const javaHeaderBytes = javaMagic.length + 8;

/** Decompresses Snappy blocks. Each names its size, so a batch that is too large is refused before any is decoded. */
export async function decodeSnappy(compressed: Buffer, bytesMax: number): Promise<Buffer> {
  const blocks = compressed.indexOf(javaMagic) === 0 ? javaBlocksOf(compressed) : [compressed];
  if (blocks.reduce((sum, block) => sum + sizeOf(block), 0) > bytesMax) throw tooManyBytes(bytesMax);
  const { uncompress } = await import("snappy"); // most installations never need it
  const decoded: Buffer[] = [];
  for (const block of blocks) decoded.push((await uncompress(block, { asBuffer: true })) as Buffer);
  return Buffer.concat(decoded);
}

function javaBlocksOf(compressed: Buffer): Buffer[] {
  const blocks: Buffer[] = [];
  for (let at = javaHeaderBytes; at < compressed.length; ) {
    const size = compressed.readInt32BE(at);
    const block = compressed.subarray(at + 4, at + 4 + size);
    if (size <= 0 || block.length < size) throw new Error("a Snappy block is cut");
    blocks.push(block);
    at += 4 + size;
  }
  return blocks;
}

/** Reads the size of a decompressed block: a varint of at most five bytes in front of it. */
function sizeOf(block: Buffer): number {
  let size = 0;
  for (const [place, byte] of block.subarray(0, 5).entries()) {
    size += (byte & 0x7f) * 2 ** (7 * place);
    if (byte < 0x80) return size;
  }
  throw new Error("a Snappy block names no size");
}
