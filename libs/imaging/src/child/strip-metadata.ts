import { createInflate } from "node:zlib";
import type { InputFormat } from "../formats/image-formats.ts";

/**
 * Copies a file without anything but its pixels: no metadata, no comments, nothing behind the picture. Null where that
 * cannot be told, as for a file that is not built like the pictures of usual programs.
 */
export async function stripMetadata(file: Buffer, format: InputFormat): Promise<Buffer | null> {
  const strip = strippers[format];
  const parts = strip ? await strip(file) : null;
  return parts && Buffer.concat(parts);
}

type Stripper = (file: Buffer) => Buffer[] | null | Promise<Buffer[] | null>;

const strippers: Readonly<Partial<Record<InputFormat, Stripper>>> = {
  jpeg: stripJpeg,
  png: stripPng,
  gif: stripGif,
  webp: stripWebp,
};

const [app0, app14, comment] = [0xe0, 0xee, 0xfe];
const [sos, eoi] = [0xda, 0xd9];
/** JFIF 1.1 without a unit and a thumbnail. */
const plainJfif = Buffer.from("\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0", "latin1");

/** Keeps tables, frames and scans of the first picture (ITU-T T.81 B.2). */
function stripJpeg(file: Buffer): Buffer[] | null {
  const parts = [file.subarray(0, 2)];
  for (let at = 2; at + 2 <= file.length; ) {
    const marker = file[at + 1] as number;
    if (marker === eoi) return [...parts, file.subarray(at, at + 2)];
    if (file[at] !== 0xff || marker < 0xc0 || marker === 0xff || at + 4 > file.length) return null;
    const end = at + 2 + file.readUInt16BE(at + 2);
    const isAbout = (marker >= app0 && marker < 0xf0) || marker === comment;
    if (marker === app0) parts.push(plainJfif);
    if (!isAbout || marker === app14) parts.push(file.subarray(at, end));
    at = end;
    if (marker !== sos) continue;
    at = endOfScan(file, end);
    parts.push(file.subarray(end, at));
  }
  return null;
}

/** Finds the marker behind a scan: stuffed bytes and restarts belong to it. */
function endOfScan(file: Buffer, from: number): number {
  for (let at = file.indexOf(0xff, from); at >= 0 && at + 1 < file.length; at = file.indexOf(0xff, at + 2)) {
    const marker = file[at + 1] as number;
    if (marker !== 0 && (marker < 0xd0 || marker > 0xd7)) return at;
  }
  return file.length;
}

const pngChunks: readonly string[] = ["IHDR", "PLTE", "tRNS", "IDAT", "IEND"];

/** Keeps the chunks of the pixels (PNG, third edition, §11.2). */
async function stripPng(file: Buffer): Promise<Buffer[] | null> {
  const parts = [file.subarray(0, 8)];
  const pixels: Buffer[] = [];
  for (let at = 8; at + 12 <= file.length; ) {
    const type = file.toString("latin1", at + 4, at + 8);
    const end = at + 12 + file.readUInt32BE(at);
    if (end > file.length) return null;
    if (pngChunks.includes(type)) parts.push(file.subarray(at, end));
    if (type === "IDAT") pixels.push(file.subarray(at + 8, end - 4));
    if (type === "IEND") return (await isOneStream(pixels)) ? parts : null;
    at = end;
  }
  return null;
}

/** Returns true when nothing lies behind the compressed pixels, such as the rest of a picture before it was cropped. */
async function isOneStream(pixels: readonly Buffer[]): Promise<boolean> {
  const inflate = createInflate();
  inflate.end(Buffer.concat(pixels));
  try {
    for await (const _ of inflate);
  } catch {
    return false;
  }
  return inflate.bytesWritten === pixels.reduce((sum, { length }) => sum + length, 0);
}

const [extension, descriptor, trailer] = [0x21, 0x2c, 0x3b];
const [graphicControl, application] = [0xf9, 0xff];

/** Keeps the frames, their timing and the number of rounds (GIF89a). */
function stripGif(file: Buffer): Buffer[] | null {
  if (file.length < 14) return null;
  let at = 13 + colourTableOf(file[10] as number);
  const parts = [file.subarray(0, at)];
  while (at + 1 < file.length && file[at] !== trailer) {
    const start = at;
    const label = file[at + 1] as number;
    const isImage = file[at] === descriptor;
    if (!isImage && file[at] !== extension) return null;
    at = endOfBlocks(file, isImage ? at + 11 + colourTableOf(file[at + 9] as number) : at + 2);
    const isLoop = label === application && file.toString("latin1", start + 3, start + 14) === "NETSCAPE2.0";
    if (isImage || label === graphicControl || isLoop) parts.push(file.subarray(start, at));
  }
  return file[at] === trailer ? [...parts, file.subarray(at, at + 1)] : null;
}

const colourTableOf = (flags: number): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);

/** Finds the end of a chain of blocks, which an empty one closes. */
function endOfBlocks(file: Buffer, from: number): number {
  let at = from;
  while (at < file.length && file[at] !== 0) at += 1 + (file[at] as number);
  return at + 1;
}

const webpChunks: readonly string[] = ["VP8 ", "VP8L", "ALPH", "ANIM", "ANMF"];
/** The flags of transparency and animation; those of profile, Exif and XMP go. */
const keptFlags = 0x12;

/** Keeps the chunks of the pixels (RFC 9649 §2.7). */
function stripWebp(file: Buffer): Buffer[] | null {
  const parts: Buffer[] = [];
  const size = Math.min(file.length, 8 + file.readUInt32LE(4));
  for (let at = 12; at + 8 <= size; ) {
    const type = file.toString("latin1", at, at + 4);
    const length = file.readUInt32LE(at + 4);
    const chunk = file.subarray(at, at + 8 + length + (length % 2));
    if (type === "ANMF" && !isPlainFrame(chunk)) return null;
    if (type === "VP8X") {
      const header = Buffer.from(chunk);
      header[8] = (header[8] ?? 0) & keptFlags;
      parts.push(header);
    } else if (webpChunks.includes(type)) parts.push(chunk);
    at += chunk.length;
  }
  const head = Buffer.from(file.subarray(0, 12));
  head.writeUInt32LE(4 + parts.reduce((sum, { length }) => sum + length, 0), 4);
  return [head, ...parts];
}

/** Returns true for a frame with pixels alone. */
function isPlainFrame(frame: Buffer): boolean {
  for (let at = 24; at + 8 <= frame.length; ) {
    if (!["VP8 ", "VP8L", "ALPH"].includes(frame.toString("latin1", at, at + 4))) return false;
    const length = frame.readUInt32LE(at + 4);
    at += 8 + length + (length % 2);
  }
  return true;
}
