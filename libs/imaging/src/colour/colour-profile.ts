import type { ColorSpace } from "../formats/image-jobs.ts";
import { type ColourCoding, hdrOf } from "./colour-codes.ts";

/** Largest number of tags in a plausible profile. */
const tagsMax = 100;

/** Reads the code points of a profile for HDR, which say more than its curves; null for any other profile. */
export function codingOfProfile(icc: Buffer | undefined): ColourCoding | null {
  if (!icc) return null;
  const cicp = tagOf(icc, "cicp");
  const [, kind] = /2100\W*_?(PQ|HLG)/i.exec(nameOfProfile(icc)) ?? [];
  // A profile of the W3C for PNG is known by its name alone.
  const named = kind ? { primaries: 9, transfer: kind.toUpperCase() === "PQ" ? 16 : 18 } : null;
  const coding = cicp && cicp.length >= 12 ? { primaries: cicp[8] ?? 0, transfer: cicp[9] ?? 0 } : named;
  return coding && hdrOf(coding) ? coding : null;
}

/** The red of a profile (X and Y under D50), which tells the usual colour spaces apart whatever they are called. */
const reds: readonly (readonly [x: number, y: number, space: ColorSpace])[] = [
  [0.436, 0.2225, "srgb"],
  [0.515, 0.241, "display_p3"],
  [0.6097, 0.311, "adobe_rgb"],
  [0.6734, 0.279, "rec2020"],
];

/** Returns the colour space of a profile; sRGB for a file without one. */
export function spaceOfProfile(icc: Buffer | undefined): ColorSpace {
  if (!icc) return "srgb";
  const red = tagOf(icc, "rXYZ");
  if (!red || red.length < 16) return "other";
  const [x, y] = [red.readInt32BE(8) / 65_536, red.readInt32BE(12) / 65_536];
  return reds.find((known) => Math.hypot(known[0] - x, known[1] - y) < 0.006)?.[2] ?? "other";
}

/** Reads the description of a profile (ICC.1:2022 §9.2.41), as ASCII or in UTF-16; empty for none. */
function nameOfProfile(icc: Buffer): string {
  const tag = tagOf(icc, "desc");
  if (!tag || tag.length < 28) return "";
  if (tag.toString("latin1", 0, 4) === "desc") return tag.toString("latin1", 12, 12 + tag.readUInt32BE(8));
  const [length, at] = [tag.readUInt32BE(20), tag.readUInt32BE(24)];
  return Buffer.from(tag.subarray(at, at + length - (length % 2)))
    .swap16()
    .toString("utf16le");
}

function tagOf(icc: Buffer, name: string): Buffer | null {
  const count = icc.length < 132 ? 0 : Math.min(icc.readUInt32BE(128), tagsMax);
  for (let at = 132; at < 132 + 12 * count && at + 12 <= icc.length; at += 12) {
    if (icc.toString("latin1", at, at + 4) !== name) continue;
    const from = icc.readUInt32BE(at + 4);
    return icc.subarray(from, from + icc.readUInt32BE(at + 8));
  }
  return null;
}
