/** Author and copyright of an image, by their names in Exif. */
export type Rights = { [Name in "Artist" | "Copyright"]?: string };

const tags: Readonly<Record<number, keyof Rights>> = { 315: "Artist", 33432: "Copyright" };
const asciiType = 2;
const entriesMax = 200;
const textMax = 1_000;

/**
 * Reads the rights from an Exif block (Exif 3.0 §4.6: a TIFF whose first directory contains them). Malformed ones are
 * ignored: the file is untrusted.
 */
export function readRights(exif: Buffer | undefined): Rights {
  const rights: Rights = {};
  if (!exif) return rights;
  const start = exif.toString("latin1", 0, 6) === "Exif\0\0" ? 6 : 0;
  const tiff = exif.subarray(start);
  const order = tiff.toString("latin1", 0, 2);
  if (tiff.length < 8 || (order !== "II" && order !== "MM")) return rights;
  const isLittle = order === "II";
  const uint16 = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const uint32 = (at: number) => (isLittle ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at));

  const directory = uint32(4);
  if (directory + 2 > tiff.length) return rights;
  const entries = Math.min(uint16(directory), entriesMax);
  for (let at = directory + 2; at < directory + 2 + 12 * entries && at + 12 <= tiff.length; at += 12) {
    const name = tags[uint16(at)];
    if (!name || uint16(at + 2) !== asciiType) continue;
    const length = Math.min(uint32(at + 4), textMax);
    const from = length <= 4 ? at + 8 : uint32(at + 8);
    const text = textOf(tiff.subarray(from, from + length));
    if (text !== "") rights[name] = text;
  }
  return rights;
}

/**
 * Decodes a text as UTF-8, which cameras write instead of ASCII. A copyright may be split by a NUL: photographer, then
 * editor.
 */
function textOf(bytes: Buffer): string {
  const parts = bytes.toString("utf8").split("\0");
  const kept = parts.map((part) => part.replace(/\p{Cc}/gu, "").trim()).filter(Boolean);
  return kept.join("; ");
}
