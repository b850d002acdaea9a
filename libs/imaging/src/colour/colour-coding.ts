import { open } from "node:fs/promises";
import type { InputFormat } from "../formats/image-formats.ts";
import { type ColourCoding, isConvertible } from "./colour-codes.ts";

/** Colours are told before the pixels; a larger head is not plausible. */
const headMax = 256 * 1024;

/** Reads how a file codes its colours; null where it does not tell them except by a profile. */
export async function readColourCoding(path: string, format: InputFormat): Promise<ColourCoding | null> {
  if (!isTold(format)) return null;
  const coding = codingOf(await headOf(path), format);
  return coding && isSrgb(coding) ? null : coding;
}

/** The formats that tell their colours by code points. */
type Told = "png" | "avif" | "heic";
const isTold = (format: InputFormat): format is Told => ["png", "avif", "heic"].includes(format);
const codingOf = (head: Buffer, format: Told) => (format === "png" ? codingOfPng(head) : codingOfHeif(head));

/** Returns true for colours that need no conversion; unspecified code points (2) are read as sRGB. */
function isSrgb({ primaries, transfer, isLimitedGrey }: ColourCoding): boolean {
  return (primaries === 1 || primaries === 2) && (transfer === 13 || transfer === 2) && !isLimitedGrey;
}

/** Names the kind of file whose colours or frames cannot be shown correctly; null where they can. */
export async function unshownColours(path: string, format: InputFormat): Promise<string | null> {
  if (!isTold(format)) return null;
  const head = await headOf(path);
  if (format === "png" && (chunksOf(head).get("acTL")?.readUInt32BE(0) ?? 1) > 1) return "An animated PNG";
  const coding = codingOf(head, format);
  const matrix = format === "png" ? 0 : (colourBoxOf(head, "nclx")?.readUInt16BE(8) ?? 0);
  if (coding === null || (isConvertible(coding) && !constantLuminance.includes(matrix))) return null;
  return "An image in these colours (CICP)";
}

/** Matrix coefficients that the decoder does not know. */
const constantLuminance = [10, 11, 14];

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headMax), 0, headMax, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The chunks of a PNG before its pixels, by type. */
function chunksOf(head: Buffer): Map<string, Buffer> {
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at + 12 <= head.length; ) {
    const [length, type] = [head.readUInt32BE(at), head.toString("latin1", at + 4, at + 8)];
    if (type === "IDAT" || at + 12 + length > head.length) break;
    chunks.set(type, head.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  return chunks;
}

/** Reads the colours of a PNG (third edition, §11.3.2): cICP, or a profile, or sRGB, or gAMA with cHRM. */
function codingOfPng(head: Buffer): ColourCoding | null {
  const chunks = chunksOf(head);
  const numbersOf = (type: string, count: number): number[] | null => {
    const chunk = chunks.get(type);
    return chunk?.length === 4 * count ? Array.from({ length: count }, (_, at) => chunk.readUInt32BE(4 * at)) : null;
  };
  const cicp = chunks.get("cICP");
  if (cicp?.length === 4) {
    const [primaries = 0, transfer = 0] = cicp;
    const [peak] = numbersOf("cLLI", 2) ?? [];
    return { primaries, transfer, peakNits: peak === undefined ? undefined : peak / 10_000 };
  }
  const [gamma = 0] = numbersOf("gAMA", 1) ?? [];
  if (gamma === 0 || chunks.has("iCCP") || chunks.has("sRGB")) return null;
  const corners = numbersOf("cHRM", 8) ?? srgbCorners;
  const isSrgb = corners.every((corner, at) => Math.abs(corner - (srgbCorners[at] ?? 0)) < 100);
  const primaries = isSrgb ? 1 : corners.map((corner) => corner / 100_000);
  return gamma === srgbGamma ? { primaries, transfer: 13 } : { primaries, transfer: 0, gamma: 100_000 / gamma };
}

/** The numbers of sRGB in gAMA and cHRM, which browsers take for its curve. */
const srgbGamma = 45_455;
const srgbCorners = [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000];

/** Reads the colours of an AVIF or HEIC (ISO/IEC 23008-12): a profile has precedence over code points. */
function codingOfHeif(head: Buffer): ColourCoding | null {
  const nclx = colourBoxOf(head, "nclx");
  if (!nclx || nclx.length < 11 || colourBoxOf(head, "prof") || colourBoxOf(head, "rICC")) return null;
  const properties = propertiesOf(head);
  const light = properties.find(({ type }) => type === "clli")?.body;
  const configuration = properties.find(({ type }) => type === "av1C")?.body;
  const transfer = nclx.readUInt16BE(6);
  const isGrey = ((configuration?.[2] ?? 0) & 0x10) !== 0;
  return {
    primaries: nclx.readUInt16BE(4),
    // Browsers take these curves, meant for video, for that of sRGB.
    transfer: [1, 6, 11, 12, 14, 15].includes(transfer) ? 13 : transfer,
    peakNits: light && light.length >= 4 ? light.readUInt16BE(0) : undefined,
    isLimitedGrey: isGrey && ((nclx[10] ?? 0x80) & 0x80) === 0,
  };
}

function colourBoxOf(head: Buffer, kind: string): Buffer | undefined {
  return propertiesOf(head).find(({ type, body }) => type === "colr" && body.toString("latin1", 0, 4) === kind)?.body;
}

interface Box {
  readonly type: string;
  readonly body: Buffer;
}

/** The properties of the primary item (§6.3): a file may have others, for transparency or a gain map. */
function propertiesOf(head: Buffer): Box[] {
  const meta = boxesOf(boxesOf(head).get("meta")?.subarray(4));
  const primary = meta.get("pitm");
  const properties = boxesOf(meta.get("iprp"));
  const listed = [...walk(properties.get("ipco"))];
  const associations = properties.get("ipma");
  if (!primary || primary.length < 6 || !associations || associations.length < 8) return [];
  const item = primary[0] === 0 ? primary.readUInt16BE(4) : primary.readUIntBE(4, Math.min(4, primary.length - 4));
  return indexesOf(associations, item).flatMap((index) => listed[index - 1] ?? []);
}

/** The numbers of an item's properties, from 1 (ItemPropertyAssociationBox). */
function indexesOf(box: Buffer, item: number): number[] {
  const [idSize, indexSize] = [box[0] === 0 ? 2 : 4, ((box[3] ?? 0) & 1) === 0 ? 1 : 2];
  const entries = box.readUInt32BE(4);
  for (let entry = 0, at = 8; entry < entries && at + idSize < box.length; entry++) {
    const id = box.readUIntBE(at, idSize);
    const count = box[at + idSize] ?? 0;
    const from = at + idSize + 1;
    at = from + count * indexSize;
    if (id !== item || at > box.length) continue;
    // The first bit says that the property is essential.
    const mask = indexSize === 1 ? 0x7f : 0x7fff;
    return Array.from({ length: count }, (_, nth) => box.readUIntBE(from + nth * indexSize, indexSize) & mask);
  }
  return [];
}

const boxesOf = (bytes: Buffer | undefined) => new Map([...walk(bytes)].map(({ type, body }) => [type, body]));

/** Walks over the boxes of a file, or of a box (ISO/IEC 14496-12 §4.2). */
function* walk(bytes: Buffer = Buffer.alloc(0)): Generator<Box> {
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32BE(at);
    const isLong = size === 1 && at + 16 <= bytes.length;
    const length = isLong ? Number(bytes.readBigUInt64BE(at + 8)) : size === 0 ? bytes.length - at : size;
    if (length < (isLong ? 16 : 8)) return;
    yield { type: bytes.toString("latin1", at + 4, at + 8), body: bytes.subarray(at + (isLong ? 16 : 8), at + length) };
    at += length;
  }
}
