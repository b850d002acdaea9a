import { open, readFile, writeFile } from "node:fs/promises";
import sharp from "sharp";
import type { Geometry } from "../formats/geometry.ts";

/** The second picture of an Ultra HDR JPEG: how much brighter each place may get on a screen that can. */
export interface GainMap {
  readonly jpeg: Buffer;
  /** The terms of the map, by their names in `hdrgm`. */
  readonly terms: ReadonlyMap<string, string>;
}

/** The segments before the pixels are shorter than this. */
const headMax = 256 * 1024;
const mapBytesMax = 16 * 1024 * 1024;
const quality = 85;
const names = {
  xmp: "http://ns.adobe.com/xap/1.0/\0",
  map: "http://ns.adobe.com/hdr-gain-map/1.0/",
  container: "http://ns.google.com/photos/1.0/container/",
};
const [soi, app1, app2] = [0xd8, 0xe1, 0xe2];

/** Reads the gain map of a JPEG (CIPA DC-007 and the Ultra HDR image format); null where it has none. */
export async function readGainMap(path: string): Promise<GainMap | null> {
  const file = await open(path, "r");
  try {
    const readAt = async (at: number, length: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
      return buffer.subarray(0, bytesRead);
    };
    const head = await readAt(0, headMax);
    const index = segmentsOf(head).find(({ body }) => body.toString("latin1", 0, 4) === "MPF\0");
    const second = index && secondPicture(index.body.subarray(4));
    if (!index || !second || second.length > mapBytesMax) return null;
    const jpeg = await readAt(index.at + 4 + second.offset, second.length);
    const xmp = segmentsOf(jpeg).find(({ body }) => body.toString("latin1", 0, names.xmp.length) === names.xmp);
    const terms = termsOf(xmp?.body.toString("utf8", names.xmp.length) ?? "");
    return terms.has("Version") && terms.has("GainMapMax") ? { jpeg, terms } : null;
  } finally {
    await file.close();
  }
}

/** Lists the segments of a JPEG before its pixels: where the body begins, and the body. */
function segmentsOf(jpeg: Buffer): { readonly at: number; readonly body: Buffer }[] {
  const segments = [];
  if (jpeg[0] !== 0xff || jpeg[1] !== soi) return [];
  for (let at = 2; at + 4 <= jpeg.length && jpeg[at] === 0xff && jpeg[at + 1] !== 0xda; ) {
    const length = jpeg.readUInt16BE(at + 2);
    segments.push({ at: at + 4, body: jpeg.subarray(at + 4, at + 2 + length) });
    at += 2 + length;
  }
  return segments;
}

/** Finds the second picture in an index, by its length and its distance from the index. */
function secondPicture(index: Buffer): { readonly length: number; readonly offset: number } | null {
  const isLittle = index.toString("latin1", 0, 2) === "II";
  const int = (at: number) => (at + 4 > index.length ? 0 : isLittle ? index.readUInt32LE(at) : index.readUInt32BE(at));
  const short = (at: number) =>
    at + 2 > index.length ? 0 : isLittle ? index.readUInt16LE(at) : index.readUInt16BE(at);
  const directory = int(4);
  for (let entry = 0; entry < Math.min(short(directory), 20); entry++) {
    const at = directory + 2 + 12 * entry;
    // The list of pictures, of 16 bytes each.
    if (short(at) === 0xb002 && int(at + 4) >= 32) {
      const second = int(at + 8) + 16;
      return { length: int(second + 4), offset: int(second + 8) };
    }
  }
  return null;
}

/** Reads the terms from XMP: numbers, as attributes or as lists of one for each colour. */
function termsOf(xmp: string): Map<string, string> {
  const terms = new Map<string, string>();
  for (const [, name = "", value = ""] of xmp.matchAll(/hdrgm:(\w{1,30})="([\w.+-]{1,30})"/g)) terms.set(name, value);
  for (const [, name = "", list = ""] of xmp.matchAll(/<hdrgm:(\w{1,30})>\s*<rdf:Seq>([\s\S]{1,500}?)<\/rdf:Seq>/g)) {
    const values = [...list.matchAll(/<rdf:li>([\d.+-]{1,30})<\/rdf:li>/g)].map(([, value]) => value);
    if (values.length === 3) terms.set(name, values.join(" "));
  }
  return terms;
}

/** A picture that a map belongs to. */
interface Whole {
  readonly width: number;
  readonly orientation: number;
  readonly pixelsMax: number;
}

/** Renders a map, scaled and cropped like the picture that it belongs to; null for a damaged one. */
export function renderGainMap(map: GainMap, whole: Whole, plan: Geometry): Promise<Buffer | null> {
  return scaledMap(map, whole, plan).catch(() => null);
}

/** Adds a map to the picture in a file, and returns the file's length. */
export async function addGainMap(target: string, map: Buffer): Promise<number> {
  const bytes = joined(await readFile(target), map);
  await writeFile(target, bytes);
  return bytes.length;
}

async function scaledMap(map: GainMap, whole: Whole, plan: Geometry): Promise<Buffer> {
  const { orientation, pixelsMax: limitInputPixels } = whole;
  const turned = withSegments(map.jpeg, [segment(app1, exifOf(orientation))]);
  const opened = sharp(turned, { limitInputPixels, failOn: "error" });
  const { autoOrient, channels } = await opened.metadata();
  const ratio = autoOrient.width / whole.width;
  const [width, height] = [sized(plan.scaled.width * ratio), sized(plan.scaled.height * ratio)];
  const image = opened.autoOrient().resize({ width, height, fit: "fill" });
  if (plan.crop) {
    const [left, top] = [Math.floor(plan.crop.left * ratio), Math.floor(plan.crop.top * ratio)];
    const across = Math.min(width - left, sized(plan.crop.width * ratio));
    image.extract({ left, top, width: across, height: Math.min(height - top, sized(plan.crop.height * ratio)) });
  }
  const jpeg = await image
    .toColourspace(channels === 1 ? "b-w" : "srgb")
    .jpeg({ quality })
    .toBuffer();
  return describedMap(jpeg, map.terms);
}

/** Writes the terms into a map. */
export const describedMap = (jpeg: Buffer, terms: ReadonlyMap<string, string>): Buffer =>
  withSegments(jpeg, [xmpSegment(xmpOf(terms))]);

const sized = (length: number) => Math.max(1, Math.round(length));

const segment = (marker: number, body: Buffer) =>
  Buffer.concat([Buffer.from([0xff, marker]), uint16(body.length + 2), body]);
const xmpSegment = (xmp: string) => segment(app1, Buffer.from(names.xmp + xmp));
const withSegments = (jpeg: Buffer, segments: readonly Buffer[]) =>
  Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Builds Exif with an orientation alone. */
const exifOf = (orientation: number) =>
  Buffer.concat([
    Buffer.from("Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01", "latin1"),
    uint16(orientation),
    Buffer.alloc(6),
  ]);

const rdf = (content: string) =>
  `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">${content}</rdf:RDF></x:xmpmeta>`;

function xmpOf(terms: ReadonlyMap<string, string>): string {
  const [single, lists] = [
    [...terms].filter(([, value]) => !value.includes(" ")),
    [...terms].filter(([, value]) => value.includes(" ")),
  ];
  const attributes = single.map(([name, value]) => `hdrgm:${name}="${value}"`).join(" ");
  const items = (value: string) =>
    value
      .split(" ")
      .map((one) => `<rdf:li>${one}</rdf:li>`)
      .join("");
  const elements = lists
    .map(([name, value]) => `<hdrgm:${name}><rdf:Seq>${items(value)}</rdf:Seq></hdrgm:${name}>`)
    .join("");
  return rdf(`<rdf:Description xmlns:hdrgm="${names.map}" ${attributes}>${elements}</rdf:Description>`);
}

/** Puts the map behind the picture, with the directory and the index by which it is found. */
export function joined(picture: Buffer, map: Buffer): Buffer {
  const item = (terms: string) =>
    `<rdf:li rdf:parseType="Resource"><Container:Item Item:Mime="image/jpeg" ${terms}/></rdf:li>`;
  const items = item('Item:Semantic="Primary"') + item(`Item:Semantic="GainMap" Item:Length="${map.length}"`);
  const spaces = `xmlns:Container="${names.container}" xmlns:Item="${names.container}item/" xmlns:hdrgm="${names.map}"`;
  const directory = `<Container:Directory><rdf:Seq>${items}</rdf:Seq></Container:Directory>`;
  const xmp = xmpSegment(rdf(`<rdf:Description ${spaces} hdrgm:Version="1.0">${directory}</rdf:Description>`));
  const length = picture.length + xmp.length + 4 + indexOf(0, 0, 0).length;
  const indexAt = 2 + xmp.length + 8;
  const index = segment(app2, indexOf(length, map.length, length - indexAt));
  return Buffer.concat([withSegments(picture, [xmp, index]), map]);
}

/** Builds the index of two pictures (CIPA DC-007 §5.2). */
function indexOf(length: number, mapLength: number, mapOffset: number): Buffer {
  const entry = (tag: number, type: number, count: number, value: number) =>
    Buffer.concat([uint16(tag), uint16(type), uint32(count), uint32(value)]);
  const pictures = [0x30000, length, 0, 0, 0, mapLength, mapOffset, 0].map(uint32);
  const entries = [entry(0xb000, 7, 4, 0x30313030), entry(0xb001, 4, 1, 2), entry(0xb002, 7, 32, 50)];
  return Buffer.concat([Buffer.from("MPF\0MM\0*", "latin1"), uint32(8), uint16(3), ...entries, uint32(0), ...pictures]);
}
