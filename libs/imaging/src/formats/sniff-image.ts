import { type InputFormat, mimeTypeOf } from "./image-formats.ts";

/** The format of a file by its first bytes. Names and declared types are ignored: both come from the sender. */
export type SniffedFile =
  | { readonly kind: "accepted"; readonly format: InputFormat; readonly mimeType: string }
  | { readonly kind: "refused"; readonly mimeType: string; readonly advice: string }
  | { readonly kind: "unknown" };

/** Number of bytes from the start that `sniffImage` needs. */
export const sniffBytes = 4096;

interface Signature {
  readonly matches: (head: Buffer) => boolean;
  readonly is: InputFormat | { readonly mimeType: string; readonly advice: string };
}

const startsWith = (text: string, at = 0) => {
  const wanted = Buffer.from(text, "latin1");
  return (head: Buffer) => head.subarray(at, at + wanted.length).equals(wanted);
};

const startsWithAny = (...texts: string[]) => {
  const starts = texts.map((text) => startsWith(text));
  return (head: Buffer) => starts.some((isStart) => isStart(head));
};

/** The brands of an ISO base media file (ISO/IEC 14496-12 §4.3): the major one, then the compatible ones. */
function brandsOf(head: Buffer): string[] {
  if (head.toString("latin1", 4, 8) !== "ftyp") return [];
  const end = Math.min(head.readUInt32BE(0), head.length);
  const brands = [head.toString("latin1", 8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) brands.push(head.toString("latin1", at, at + 4));
  return brands;
}

const hasBrand = (pattern: RegExp) => (head: Buffer) => brandsOf(head).some((brand) => pattern.test(brand));
/** Builds the advice for a recognised but unaccepted file. */
export const convertAdvice = (what: string) =>
  `${what} is not accepted. Convert it to JPEG, PNG, WebP or AVIF and upload that.`;

const refusedAs = (mimeType: string, what: string) => ({ mimeType, advice: convertAdvice(what) });

const videoAdvice = "A video is not accepted. Upload a frame of it as JPEG or PNG.";

/** The signatures in order: the first match decides. */
const signatures: readonly Signature[] = [
  { matches: startsWith("\xff\xd8\xff"), is: "jpeg" },
  { matches: startsWith("\x89PNG\r\n\x1a\n"), is: "png" },
  { matches: startsWithAny("GIF87a", "GIF89a"), is: "gif" },
  { matches: (head) => startsWith("RIFF")(head) && startsWith("WEBP", 8)(head), is: "webp" },
  {
    matches: (head) => brandsOf(head)[0] === "avis",
    is: {
      mimeType: "image/avif-sequence",
      advice: `${convertAdvice("An animated AVIF")} GIF and WebP may be animated.`,
    },
  },
  { matches: hasBrand(/^(avif|avis)$/), is: "avif" },
  {
    matches: (head) => /^(hev[cmsx]|msf1)$/.test(brandsOf(head)[0] ?? ""),
    is: {
      mimeType: "image/heic-sequence",
      advice: `${convertAdvice("An animated HEIC")} GIF and WebP may be animated.`,
    },
  },
  { matches: hasBrand(/^(hei[cmsx]|hev[cmsx]|mif1)$/), is: "heic" },
  {
    matches: (head) => startsWith("II*\0")(head) && startsWith("CR", 8)(head),
    is: refusedAs("image/x-canon-cr2", "A camera's raw file"),
  },
  { matches: startsWithAny("II*\0", "MM\0*", "II+\0", "MM\0+"), is: "tiff" },
  { matches: startsWith("BM"), is: refusedAs("image/bmp", "BMP") },
  { matches: startsWith("\0\0\x01\0"), is: refusedAs("image/x-icon", "ICO") },
  { matches: startsWith("8BPS"), is: refusedAs("image/vnd.adobe.photoshop", "A Photoshop file") },
  { matches: startsWithAny("\xff\x0a", "\0\0\0\x0cJXL "), is: refusedAs("image/jxl", "JPEG XL") },
  { matches: startsWithAny("\0\0\0\x0cjP  ", "\xff\x4f\xff\x51"), is: refusedAs("image/jp2", "JPEG 2000") },
  {
    matches: (head) => /^P[1-7][\s#]/.test(head.toString("latin1", 0, 3)),
    is: refusedAs("image/x-portable-anymap", "PNM"),
  },
  { matches: startsWith("qoif"), is: refusedAs("image/qoi", "QOI") },
  { matches: startsWithAny("#?RADIANCE", "#?RGBE"), is: refusedAs("image/vnd.radiance", "Radiance HDR") },
  { matches: startsWith("\x76\x2f\x31\x01"), is: refusedAs("image/x-exr", "OpenEXR") },
  { matches: startsWith("SIMPLE  ="), is: refusedAs("image/fits", "FITS") },
  { matches: startsWith("DICM", 128), is: refusedAs("application/dicom", "DICOM") },
  {
    matches: startsWith("%PDF-"),
    is: { mimeType: "application/pdf", advice: "PDF is not accepted. Export the page as PNG or JPEG and upload that." },
  },
  {
    matches: startsWith("%!PS"),
    is: { mimeType: "application/postscript", advice: "PostScript is not accepted. Export it as PNG and upload that." },
  },
  {
    matches: hasBrand(/^(isom|iso[2-9]|mp4[12]|avc1|qt {2}|M4V |dash|3gp.)$/),
    is: { mimeType: "video/mp4", advice: videoAdvice },
  },
  { matches: startsWith("\x1a\x45\xdf\xa3"), is: { mimeType: "video/webm", advice: videoAdvice } },
  { matches: isTga, is: refusedAs("image/x-tga", "TGA") },
  {
    matches: isSvg,
    is: { mimeType: "image/svg+xml", advice: "SVG is not accepted: it can carry scripts. Export it as PNG or WebP." },
  },
];

/** Detects the type of a file by its first bytes (`sniffBytes` of them are enough). */
export function sniffImage(bytes: Uint8Array): SniffedFile {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, sniffBytes));
  if (head.length < 4) return { kind: "unknown" };
  const signature = signatures.find((candidate) => candidate.matches(head));
  if (!signature) return { kind: "unknown" };
  if (typeof signature.is !== "string") return { kind: "refused", ...signature.is };
  return { kind: "accepted", format: signature.is, mimeType: mimeTypeOf(signature.is) };
}

/**
 * Recognises TGA, which has no signature, by its restrictive header: kind, no palette, a size, bits of a pixel, flags.
 */
function isTga(head: Buffer): boolean {
  if (head.length < 18) return false;
  const [palette = 0, kind = 0, bits = 0, flags = 0] = [head[1], head[2], head[16], head[17]];
  if (![1, 2, 3, 9, 10, 11].includes(kind) || palette !== (kind % 8 === 1 ? 1 : 0)) return false;
  if (palette === 0 && head.subarray(3, 8).some((byte) => byte !== 0)) return false;
  const hasSize = head.readUInt16LE(12) > 0 && head.readUInt16LE(14) > 0;
  return hasSize && [8, 15, 16, 24, 32].includes(bits) && (flags & 0xc0) === 0;
}

/** Recognises text whose first element is `svg`, after optional declarations, comments and a document type. */
function isSvg(head: Buffer): boolean {
  const utf16 = head[0] === 0xff && head[1] === 0xfe;
  const text = head.toString(utf16 ? "utf16le" : "utf8").replace(/^\ufeff/, "");
  const first = text.replace(/^(?:\s+|<\?[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE[^>[]*(?:\[[^\]]*\])?[^>]*>)+/i, "");
  return /^<(?:[\w-]+:)?svg[\s>/]/i.test(first);
}
