import { crc32 } from "node:zlib";
import sharp from "sharp";
import { describedMap, joined } from "../child/gain-map.ts";

const size = { width: 96, height: 64 };

/** Draws ramps of grey, red, green and blue, the last three with a little of the others: every part of a gamut. */
export function ramps(bits: 8 | 16) {
  const max = 2 ** bits - 1;
  const samples = Array.from({ length: size.width * size.height }, (_, at) => {
    const [ramp, band] = [(at % size.width) / (size.width - 1), Math.floor(at / size.width / 16)];
    const colour =
      [
        [ramp, ramp, ramp],
        [ramp, 0.2, 0.1],
        [0.1, ramp, 0.3],
        [ramp / 2, 0.4, ramp],
      ][band] ?? [];
    return colour.map((value) => Math.round(value * max));
  }).flat();
  const raw = { ...size, channels: 3 } as const;
  const image = sharp(bits === 8 ? Uint8Array.from(samples) : Uint16Array.from(samples), { raw });
  return bits === 8 ? image : image.toColourspace("rgb16");
}

/** Inserts a chunk behind the header of a PNG. */
export function withChunk(png: Buffer, type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), content]);
  return Buffer.concat([png.subarray(0, 33), uint32(content.length), body, uint32(crc32(body)), png.subarray(33)]);
}

/** Tags a PNG with code points (cICP). */
export const withCicp = (png: Buffer, primaries: number, transfer: number) =>
  withChunk(png, "cICP", Buffer.from([primaries, transfer, 0, 1]));

/** Writes other code points into an AVIF that has some (Pillow writes them, our encoder does not). */
export function withNclx(avif: Buffer, primaries: number, transfer: number): Buffer {
  const [changed, at] = [Buffer.from(avif), avif.indexOf("nclx")];
  if (at < 0) throw new Error("the AVIF has no nclx");
  changed.writeUInt16BE(primaries, at + 4);
  changed.writeUInt16BE(transfer, at + 6);
  return changed;
}

export function uint32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, 4 * at);
  return bytes;
}

/** Computes the mean difference of all samples, in steps of 255. */
export function meanDifference(one: Uint8Array, other: Uint8Array): number {
  return one.reduce((sum, value, at) => sum + Math.abs(value - (other[at] ?? 0)), 0) / one.length;
}

/** Creates an Ultra HDR JPEG of 240x160 with a map of a quarter, the way a phone writes it. */
export async function ultraHdr(orientation: number): Promise<Buffer> {
  const exif = { IFD0: { Make: "SecretCamera" } };
  const base = await ramps(8)
    .resize(240, 160, { fit: "fill" })
    .withExif(exif)
    .withMetadata({ orientation })
    .jpeg()
    .toBuffer();
  const map = await ramps(8).resize(60, 40, { fit: "fill" }).greyscale().jpeg().toBuffer();
  const terms = new Map(
    Object.entries({
      Version: "1.0",
      GainMapMin: "0",
      GainMapMax: "2",
      Gamma: "1",
      HDRCapacityMin: "0",
      HDRCapacityMax: "2",
    }),
  );
  return joined(base, describedMap(map, terms));
}
