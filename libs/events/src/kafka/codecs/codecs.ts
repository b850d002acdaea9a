import { promisify } from "node:util";
import { constants, gunzip, zstdCompress, zstdDecompress } from "node:zlib";
import { KiB, MiB } from "@signalbox/core";
import kafkajs from "kafkajs";

/** A batch that would be larger than allowed once decompressed. */
export class BatchTooLarge extends Error {
  override readonly name = "BatchTooLarge";
}

/**
 * Decompresses the records of one batch.
 * @throws BatchTooLarge before it has made much more than `bytesMax` of them
 */
type Decode = (compressed: Buffer, bytesMax: number) => Promise<Buffer>;

const tooManyBytes = (bytesMax: number, options?: ErrorOptions): BatchTooLarge =>
  new BatchTooLarge(`decompressed it has more than ${bytesMax} bytes`, options);

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
async function decodeLz4(frame: Buffer, bytesMax: number): Promise<Buffer> {
  if (frame.length < 7 || frame.readUInt32LE(0) !== magic) throw new Error("it is not an LZ4 frame");
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

/** The header of the Java library's stream: its name, and two versions of four bytes. Other clients send one bare block. */
const javaMagic = Buffer.from([0x82, ...Buffer.from("SNAPPY"), 0x00]);
const javaHeaderBytes = javaMagic.length + 8;

/** Decompresses Snappy blocks. Each names its size, so a batch that is too large is refused before any is decoded. */
async function decodeSnappy(compressed: Buffer, bytesMax: number): Promise<Buffer> {
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

const { CompressionCodecs, CompressionTypes } = kafkajs;

/**
 * Largest batch after decompression. Brokers bound the compressed one alone, which may be ten thousand times smaller;
 * producers bound theirs before compression, ours at 3 MiB and most at 1 MiB.
 */
export const decodedBytesMax = 16 * MiB;

const bounded =
  (decompress: (compressed: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>): Decode =>
  async (compressed, maxOutputLength) => {
    try {
      return await decompress(compressed, { maxOutputLength });
    } catch (error) {
      if ((error as { code?: unknown }).code !== "ERR_BUFFER_TOO_LARGE") throw error;
      throw tooManyBytes(maxOutputLength, { cause: error });
    }
  };

/** The decoders by the codec's number in the attributes of a batch. */
const decoders: ReadonlyMap<number, Decode> = new Map([
  [CompressionTypes.GZIP, bounded(promisify(gunzip))],
  [CompressionTypes.Snappy, decodeSnappy],
  [CompressionTypes.LZ4, decodeLz4],
  [CompressionTypes.ZSTD, bounded(promisify(zstdDecompress))],
]);

const compress = promisify(zstdCompress);
/** The fastest level: batches of JSON shrink about as well as at higher ones. */
const zstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Gives kafkajs the codecs: it publishes with ZSTD alone and reads what brokers and producers of others choose. */
export function installCodecs(): void {
  for (const [type, decode] of decoders) {
    CompressionCodecs[type as 1 | 2 | 3 | 4] = () => ({
      compress: ({ buffer }: { buffer: Buffer }) => compress(buffer, zstdOptions),
      decompress: (compressed: Buffer) => decode(compressed, decodedBytesMax),
    });
  }
}
