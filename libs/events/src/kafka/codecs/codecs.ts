import { promisify } from "node:util";
import { constants, gunzip, zstdCompress, zstdDecompress } from "node:zlib";
import { MiB } from "@signalbox/core";
import kafkajs from "kafkajs";
import { type Decode, tooManyBytes } from "./batch-too-large.ts";
import { decodeLz4 } from "./lz4.ts";
import { decodeSnappy } from "./snappy.ts";

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
