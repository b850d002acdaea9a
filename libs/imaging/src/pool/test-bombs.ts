import { crc32, deflateSync } from "node:zlib";
import { readFixture } from "@signalbox/testing";
import sharp from "sharp";
import type { InputFormat } from "../formats/image-formats.ts";
import { plain } from "./test-pool.ts";

/** Small files with large demands, made for tests: by hand where no encoder would make them. */

/** Creates a plain image of this size in any accepted format. */
export function plainAs(format: InputFormat, width: number, height: number): Promise<Buffer> {
  const image = plain(width, height);
  switch (format) {
    case "webp":
      return image.webp({ effort: 0 }).toBuffer();
    case "avif":
      return image.avif({ effort: 0 }).toBuffer();
    case "gif":
      return image.gif({ effort: 1 }).toBuffer();
    case "tiff":
      return image.tiff({ compression: "deflate" }).toBuffer();
    case "heic":
      return readFixture("phone.heic");
    default:
      return image.toFormat(format).toBuffer();
  }
}

/** Writes into `ispe`: type, version and flags, width, height. */
function claimInBox(bytes: Buffer, width: number, height: number): void {
  const at = bytes.indexOf("ispe") + 8;
  bytes.writeUInt32BE(width, at);
  bytes.writeUInt32BE(height, at + 4);
}

/** Creates a small file whose header claims another size than its pixels have. */
export async function claiming(format: InputFormat, width: number, height: number): Promise<Buffer> {
  const bytes = await plainAs(format, 16, 16);
  const patch: Readonly<Record<InputFormat, () => void>> = {
    png() {
      bytes.writeUInt32BE(width, 16);
      bytes.writeUInt32BE(height, 20);
      bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
    },
    jpeg() {
      // SOF0: marker, length, precision, height, width.
      const at = bytes.indexOf(Buffer.from([0xff, 0xc0]));
      bytes.writeUInt16BE(height, at + 5);
      bytes.writeUInt16BE(width, at + 7);
    },
    gif() {
      // The screen, and the frame after the colour table: the decoder uses the larger of the two sizes.
      const flags = bytes[10] as number;
      const frame = bytes.indexOf(0x2c, 13 + (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0));
      for (const at of [6, frame + 5]) {
        bytes.writeUInt16LE(width, at);
        bytes.writeUInt16LE(height, at + 2);
      }
    },
    webp() {
      // VP8: start code, then two sizes of 14 bits.
      const at = bytes.indexOf(Buffer.from([0x9d, 0x01, 0x2a])) + 3;
      bytes.writeUInt16LE(Math.min(width, 0x3fff), at);
      bytes.writeUInt16LE(Math.min(height, 0x3fff), at + 2);
    },
    avif: () => claimInBox(bytes, width, height),
    heic: () => claimInBox(bytes, width, height),
    tiff() {
      const directory = bytes.readUInt32LE(4);
      for (let at = directory + 2; at < directory + 2 + 12 * bytes.readUInt16LE(directory); at += 12) {
        const tag = bytes.readUInt16LE(at);
        if (tag !== 256 && tag !== 257) continue;
        bytes.writeUInt16LE(4, at + 2);
        bytes.writeUInt32LE(tag === 256 ? width : height, at + 8);
      }
    },
  };
  patch[format]();
  return bytes;
}

/** Creates a PNG with these chunks after its header. */
export async function pngWith(chunks: readonly (readonly [type: string, data: Buffer])[]): Promise<Buffer> {
  const png = await plainAs("png", 64, 64);
  const made = chunks.map(([type, data]) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  });
  return Buffer.concat([png.subarray(0, 33), ...made, png.subarray(33)]);
}

/** Compresses zeros of this length, after a keyword as in text chunks and `iCCP`. */
export function inflating(bytes: number): Buffer {
  return Buffer.concat([Buffer.from("a\0\0", "latin1"), deflateSync(Buffer.alloc(bytes))]);
}

/** Creates a JPEG with these segments after its first marker; each may have 65,533 bytes. */
export async function jpegWith(marker: number, segments: readonly Buffer[]): Promise<Buffer> {
  const jpeg = await plainAs("jpeg", 64, 64);
  const made = segments.map((data) => {
    const head = Buffer.from([0xff, marker, 0, 0]);
    head.writeUInt16BE(data.length + 2, 2);
    return Buffer.concat([head, data]);
  });
  return Buffer.concat([jpeg.subarray(0, 2), ...made, jpeg.subarray(2)]);
}

/** Creates an ICC profile that claims more tags than it has bytes, with a real one's header. */
export async function deepProfile(bytes: number): Promise<Buffer> {
  const tagged = await plain(8, 8).withIccProfile("p3").png().toBuffer();
  const { icc } = await sharp(tagged).metadata();
  const profile = Buffer.concat([icc as Buffer, Buffer.alloc(Math.max(0, bytes - (icc as Buffer).length), 0x41)]);
  profile.writeUInt32BE(profile.length, 0);
  profile.writeUInt32BE(0xffff_fff0, 128);
  return profile;
}

/** Splits the profile into as many segments as JPEG allows. */
export function profileSegments(profile: Buffer): Buffer[] {
  const partMax = 65_000;
  const count = Math.min(255, Math.ceil(profile.length / partMax));
  return Array.from({ length: count }, (_, at) =>
    Buffer.concat([
      Buffer.from("ICC_PROFILE\0", "latin1"),
      Buffer.from([at + 1, count]),
      profile.subarray(at * partMax, (at + 1) * partMax),
    ]),
  );
}

/** Creates an animated WebP that repeats one frame. */
export async function longWebp(frames: number): Promise<Buffer> {
  const one = await plain(4, 4).webp({ lossless: true }).toBuffer();
  const chunk = (type: string, data: Buffer) => {
    const head = Buffer.alloc(8);
    head.write(type, "latin1");
    head.writeUInt32LE(data.length, 4);
    return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
  };
  // Flags: animation; then width and height less one, in 24 bits.
  const canvas = chunk("VP8X", Buffer.from([2, 0, 0, 0, 3, 0, 0, 3, 0, 0]));
  const loop = chunk("ANIM", Buffer.alloc(6));
  const frame = chunk(
    "ANMF",
    Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 3, 0, 0, 3, 0, 0, 10, 0, 0, 0]), one.subarray(12)]),
  );
  const body = Buffer.concat([Buffer.from("WEBP"), canvas, loop, ...Array.from({ length: frames }, () => frame)]);
  return Buffer.concat([chunk("RIFF", body).subarray(0, 8), body]);
}
