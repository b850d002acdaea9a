import { KiB, MiB } from "@signalbox/core";
import { tooManyBytes } from "./batch-too-large.ts";

const magic = 0x184d2204;
const stored = 0x8000_0000;
/** A block of a frame whose blocks are linked refers to as many bytes before it. */
const windowBytes = 64 * KiB;
const blockBytesMax = new Map([
  [4, 64 * KiB],
  [5, 256 * KiB],
  [6, MiB],
  [7, 4 * MiB],
]);

/** Decompresses an LZ4 frame block by block: the package's decoder of whole frames takes no bound. */
export async function decodeLz4(frame: Buffer, bytesMax: number): Promise<Buffer> {
  if (frame.length < 7 || frame.readUInt32LE(0) !== magic) throw new Error("it is no LZ4 frame");
  const flags = frame.readUInt8(4);
  const blockMax = blockBytesMax.get((frame.readUInt8(5) >> 4) & 7);
  if (flags >> 6 !== 1 || (flags & 1) !== 0 || blockMax === undefined)
    throw new Error("it has an LZ4 frame of another kind");
  const checksumBytes = (flags & 0x10) === 0 ? 0 : 4;
  const decoded: Buffer[] = [];
  let bytes = 0;
  let window = (flags & 0x20) === 0 ? Buffer.alloc(0) : undefined;
  for (let at = (flags & 0x08) === 0 ? 7 : 15; ; ) {
    const size = frame.readUInt32LE(at) & ~stored;
    if (size === 0) return Buffer.concat(decoded, bytes);
    const isStored = frame.readUInt32LE(at) >= stored;
    const block = frame.subarray(at + 4, at + 4 + size);
    if (block.length < size || size > blockMax) throw new Error("an LZ4 block is cut or too large");
    const part = isStored ? block : await decodeBlock(block, blockMax, window);
    decoded.push(part);
    if (window) window = Buffer.concat([window, part]).subarray(-windowBytes);
    bytes += part.length;
    if (bytes > bytesMax) throw tooManyBytes(bytesMax);
    at += 4 + size + checksumBytes;
  }
}

/** Decompresses one block. The package wants the largest possible size in front of it. */
async function decodeBlock(block: Buffer, bytesMax: number, window: Buffer | undefined): Promise<Buffer> {
  const { uncompress } = await import("lz4-napi"); // most installations never need it
  const sized = Buffer.allocUnsafe(4 + block.length);
  sized.writeUInt32LE(bytesMax, 0);
  block.copy(sized, 4);
  return await uncompress(sized, window);
}
