import sharp, { type Metadata, type Sharp } from "sharp";
import {
  type ColourCoding,
  hdrOf,
  matrixFrom,
  peakNitsDefault,
  rec2020ToSrgb,
  transferFrom,
  whiteNits,
} from "../colour/colour-codes.ts";
import { readColourCoding } from "../colour/colour-coding.ts";
import { codingOfProfile, spaceOfProfile } from "../colour/colour-profile.ts";
import type { InputFormat } from "../formats/image-formats.ts";
import type { ColorSpace, Look } from "../formats/image-jobs.ts";
import { readGainMap } from "./gain-map.ts";

interface Colours extends Pick<Look, "colorSpace" | "hdr"> {
  /** The coding to convert from; null where the decoder converts. */
  readonly coding: ColourCoding | null;
  /** True for 16 bits a sample. */
  readonly isDeep: boolean;
}

/** Reads the colours of a file, whose header the decoder has read. */
export async function readColours(source: string, format: InputFormat, read: Metadata): Promise<Colours> {
  const { icc, space, depth } = read;
  const coding = (await readColourCoding(source, format)) ?? codingOfProfile(icc);
  const hdr = coding ? hdrOf(coding) : format === "jpeg" && (await readGainMap(source)) ? "gain_map" : null;
  const colorSpace = space === "cmyk" ? "cmyk" : coding ? spaceOfCoding(coding) : spaceOfProfile(icc);
  return { coding, isDeep: depth === "ushort", colorSpace, hdr };
}

function spaceOfCoding({ primaries }: ColourCoding): ColorSpace {
  if (primaries === 1 || primaries === 2) return "srgb";
  return primaries === 9 ? "rec2020" : primaries === 12 ? "display_p3" : "other";
}

/** Converts the pixels of an image to sRGB by its coding, as browsers do: the decoder knows profiles only. */
export async function convertColours(image: Sharp, coding: ColourCoding, isDeep: boolean): Promise<Sharp> {
  const { data, info } = await image
    .toColourspace(isDeep ? "rgb16" : "srgb")
    .raw({ depth: isDeep ? "ushort" : "uchar" })
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const samples = isDeep ? new Uint16Array(data.buffer, data.byteOffset, data.length / 2) : data;
  const converted = convertPixels(samples, channels, coding, isDeep ? 65_535 : 255);
  return sharp(converted, { raw: { width, height, channels } });
}

/** Steps of light in the table of the encoding: a step of 8 bits is wider, also in the shadows. */
const lightSteps = 16_384;
const encoded = Uint8Array.from({ length: lightSteps + 1 }, (_, at) => {
  const light = at / lightSteps;
  return Math.round(255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055));
});

/** Writes the result over the samples that were read: a second copy of a large image would be too much. */
function convertPixels(
  samples: Uint8Array | Uint16Array,
  channels: number,
  coding: ColourCoding,
  max: number,
): Uint8Array {
  const pixels = new Uint8Array(samples.buffer, samples.byteOffset, samples.length);
  const transfer = transferFrom(coding);
  const [least, most] = coding.isLimitedGrey ? [16 / 255, 235 / 255] : [0, 1];
  const light = Float32Array.from({ length: max + 1 }, (_, at) =>
    transfer(Math.min(1, Math.max(0, (at / max - least) / (most - least)))),
  );
  const hdr = hdrOf(coding);
  const tone = hdr ? toneCurve(coding.peakNits || peakNitsDefault) : null;
  const [a = 1, b = 0, c = 0, d = 0, e = 1, f = 0, g = 0, h = 0, i = 1] = matrixFrom(coding);
  const [r1 = 1, r2 = 0, r3 = 0, g1 = 0, g2 = 1, g3 = 0, b1 = 0, b2 = 0, b3 = 1] = rec2020ToSrgb;
  for (let at = 0; at + 2 < samples.length; at += channels) {
    const [x, y, z] = [
      light[samples[at] as number],
      light[samples[at + 1] as number],
      light[samples[at + 2] as number],
    ];
    const alpha = channels === 4 ? (samples[at + 3] as number) : 0;
    let red = a * (x as number) + b * (y as number) + c * (z as number);
    let green = d * (x as number) + e * (y as number) + f * (z as number);
    let blue = g * (x as number) + h * (y as number) + i * (z as number);
    if (tone) {
      const scene = hdr === "hlg" ? Math.max(0, 0.2627 * red + 0.678 * green + 0.0593 * blue) : 1;
      // The gamma of a display of 1,000 cd/m² (BT.2100).
      const system = hdr === "hlg" ? (scene ** 0.2 * 1_000) / whiteNits : 1;
      const mixed = (Math.max(red, green, blue) / 2 + (red + green + blue) / 6) * system;
      const gain = tone(mixed) * system;
      const [u, v, w] = [red * gain, green * gain, blue * gain];
      red = r1 * u + r2 * v + r3 * w;
      green = g1 * u + g2 * v + g3 * w;
      blue = b1 * u + b2 * v + b3 * w;
    }
    pixels[at] = encodedOf(red);
    pixels[at + 1] = encodedOf(green);
    pixels[at + 2] = encodedOf(blue);
    if (channels === 4) pixels[at + 3] = max === 255 ? alpha : alpha >> 8;
  }
  return pixels;
}

const encodedOf = (light: number) => encoded[(Math.min(1, Math.max(0, light)) * lightSteps + 0.5) | 0] as number;

/** Steps of the curve, which is read once a pixel. */
const curveSteps = 1_024;

/**
 * Returns the gain by which light is brought below white, from the light's strength: half up to white, then less and
 * less up to the peak (SMPTE ST 2094-50, the reference white tone mapping of browsers).
 */
function toneCurve(peakNits: number): (light: number) => number {
  const peak = Math.max(1.001, peakNits / whiteNits);
  const white = 1 - Math.min(1, Math.log2(peak) / Math.log2(peakNitsDefault / whiteNits)) / 2;
  const gains = new Float32Array(curveSteps + 1);
  // A quadratic Bézier curve from (1, white) to (peak, 1), its middle towards where the line would reach 1.
  const bend = 0.65;
  const [midX, midY] = [1 - bend + bend / white, (1 - bend) * white + bend];
  for (let at = 0; at <= curveSteps; at++) {
    const light = 1 + (at / curveSteps) * (peak - 1);
    const [p, q] = [1 - 2 * midX + peak, midX - 1];
    const t = Math.abs(p) < 1e-9 ? (light - 1) / (2 * q) : (Math.sqrt(q * q + p * (light - 1)) - q) / p;
    gains[at] = ((1 - t) ** 2 * white + 2 * t * (1 - t) * midY + t * t) / light;
  }
  return (light) => {
    if (light <= 1) return white;
    return light >= peak ? 1 / light : (gains[Math.round(((light - 1) / (peak - 1)) * curveSteps)] as number);
  };
}
