import { type FileHandle, open } from "node:fs/promises";

/** The samples of a TIFF by its first directory; null where they are absent or unreadable. */
interface TiffKind {
  readonly compression: number | null;
  readonly photometric: number | null;
  readonly samples: number | null;
  /** The kind of each sample beyond the colour (TIFF 6.0, ExtraSamples); empty when not specified. */
  readonly extraSamples: readonly number[];
}

/** Tags of TIFF 6.0. */
const tags = { compression: 259, photometric: 262, samples: 277, extraSamples: 338 };
const shortType = 3;
const oldJpeg = 6;
const jpeg = 7;
const yCbCr = 6;
/** Samples of a pixel's colour by its photometric interpretation: grey (two ways), RGB, palette, CMYK, YCbCr, L*a*b*. */
const coloursOf: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 3, 3: 1, 5: 4, [yCbCr]: 3, 8: 3 };
const alphas = [1, 2];
/** Largest number of tags in a plausible file. */
const entriesMax = 4_096;

/**
 * Names the kind of TIFF that our decoder would show wrongly, blank or in false colours; null when it shows it
 * correctly. Unreadable files are refused by the decoder.
 */
export async function unshownTiff(path: string): Promise<string | null> {
  const file = await open(path, "r");
  try {
    return judgeTiff(await readKind(file));
  } finally {
    await file.close();
  }
}

function judgeTiff({ compression, photometric, samples, extraSamples }: TiffKind): string | null {
  if (compression === oldJpeg) return "A TIFF with old-style JPEG compression";
  if (photometric === yCbCr && compression !== jpeg) return "A TIFF in YCbCr without JPEG compression";
  const colours = photometric === null ? undefined : coloursOf[photometric];
  if (photometric !== null && colours === undefined) return "A TIFF of this colour model";
  const extra = Math.max(extraSamples.length, (samples ?? 1) - (colours ?? samples ?? 1));
  const [kind] = extraSamples;
  if (extra > 1) return "A TIFF with more than one extra sample";
  if (extra === 1 && (kind === undefined || !alphas.includes(kind)))
    return "A TIFF with an extra sample other than alpha";
  return null;
}

/** Reads the tags of the first directory, of classic and of big TIFF. */
async function readKind(file: FileHandle): Promise<TiffKind> {
  const found = new Map<number, readonly number[]>();
  const head = await readAt(file, 0, 16);
  const isLittle = head.toString("latin1", 0, 2) === "II";
  const short = (bytes: Buffer, at: number) => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const int = (bytes: Buffer, at: number) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const long = (bytes: Buffer, at: number) => Number(isLittle ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));
  const isBig = head.length === 16 && short(head, 2) === 43;
  const [entrySize, countSize] = isBig ? [20, 8] : [12, 2];
  const directoryAt = head.length < 16 ? 0 : isBig ? long(head, 8) : int(head, 4);
  const counted = await readAt(file, directoryAt, countSize);
  const count = counted.length < countSize ? 0 : isBig ? long(counted, 0) : short(counted, 0);
  const entries = await readAt(file, directoryAt + countSize, Math.min(count, entriesMax) * entrySize);
  for (let at = 0; at + entrySize <= entries.length; at += entrySize) {
    if (short(entries, at + 2) !== shortType) continue;
    const values = isBig ? long(entries, at + 4) : int(entries, at + 4);
    const [valueAt, room] = isBig ? [at + 12, 4] : [at + 8, 2];
    // More than fit here are stored elsewhere; their number is enough.
    const inside = Math.min(values, room);
    const list = Array.from({ length: inside }, (_, index) => short(entries, valueAt + 2 * index));
    found.set(short(entries, at), values > room ? [...list, ...list] : list);
  }
  const first = (tag: number) => found.get(tag)?.[0] ?? null;
  return {
    compression: first(tags.compression),
    photometric: first(tags.photometric),
    samples: first(tags.samples),
    extraSamples: found.get(tags.extraSamples) ?? [],
  };
}

/** Reads this many bytes, or up to the end of the file. */
async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  if (!Number.isSafeInteger(position) || length === 0) return Buffer.alloc(0);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
