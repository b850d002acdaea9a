import { open } from "node:fs/promises";

/** Decoded pixels, row by row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Three, or four with alpha. */
  readonly samples: number;
  readonly bits: 8 | 16;
  readonly rows: Buffer;
}

/** Types of TIFF 6.0, and their tags. */
const [short, long, undefinedType] = [3, 4, 7];
const sizes: Readonly<Record<number, number>> = { [short]: 2, [long]: 4, [undefinedType]: 1 };
const rowsOfStrip = 64;

/**
 * Writes pixels as an uncompressed TIFF with their profile, which the decoder reads strip by strip. sharp's own TIFF would
 * convert the samples when a profile is attached (`withIccProfile`), and they are in its colours already.
 */
export async function writeTiff(
  path: string,
  { width, height, samples, bits, rows, icc }: Pixels & { readonly icc?: Buffer | undefined },
): Promise<void> {
  const headBytes = 8;
  const stripBytes = (rows.length / height) * rowsOfStrip;
  const offsets = Array.from({ length: Math.ceil(height / rowsOfStrip) }, (_, strip) => headBytes + strip * stripBytes);
  const counts = offsets.map((offset) => Math.min(stripBytes, headBytes + rows.length - offset));
  const isShown = samples === 4;
  const tags: readonly (readonly [tag: number, type: number, values: readonly number[] | Buffer])[] = [
    [256, long, [width]],
    [257, long, [height]],
    [258, short, Array.from({ length: samples }, () => bits)],
    [259, short, [1]], // uncompressed
    [262, short, [2]], // RGB
    [273, long, offsets],
    [277, short, [samples]],
    [278, long, [rowsOfStrip]],
    [279, long, counts],
    ...(isShown ? [[338, short, [2]] as const] : []), // unassociated alpha
    ...(icc ? [[34_675, undefinedType, icc] as const] : []),
  ];
  const directoryAt = headBytes + rows.length + (rows.length % 2);
  const head = Buffer.from("II*\0\0\0\0\0", "latin1");
  head.writeUInt32LE(directoryAt, 4);
  const file = await open(path, "w");
  try {
    await file.writev([head, rows, Buffer.alloc(rows.length % 2), directoryOf(tags, directoryAt)]);
  } finally {
    await file.close();
  }
}

/** Builds the directory at an offset, and behind it the values that do not fit into it. */
function directoryOf(tags: readonly (readonly [number, number, readonly number[] | Buffer])[], at: number): Buffer {
  const directory = Buffer.alloc(2 + 12 * tags.length + 4);
  directory.writeUInt16LE(tags.length, 0);
  const behind: Buffer[] = [];
  let end = at + directory.length;
  for (const [index, [tag, type, values]] of tags.entries()) {
    const entry = directory.subarray(2 + 12 * index);
    const size = sizes[type] ?? 1;
    const data = Buffer.alloc(Math.max(4, 2 * Math.ceil((size * values.length) / 2)));
    for (const [nth, value] of values.entries()) data.writeUIntLE(value, nth * size, size);
    entry.writeUInt16LE(tag, 0);
    entry.writeUInt16LE(type, 2);
    entry.writeUInt32LE(values.length, 4);
    if (data.length === 4) data.copy(entry, 8);
    else {
      entry.writeUInt32LE(end, 8);
      behind.push(data);
      end += data.length;
    }
  }
  return Buffer.concat([directory, ...behind]);
}
