/** The colours of a file that tells them by code points (CICP, ITU-T H.273) or, as a PNG may, by numbers. */
export interface ColourCoding {
  /** A code point, or the chromaticities of white, red, green and blue. */
  readonly primaries: number | readonly number[];
  /** A code point; `gamma` where the file has an exponent of its own. */
  readonly transfer: number;
  readonly gamma?: number | undefined;
  /** Luminance of the brightest pixel in cd/m², where it is specified. */
  readonly peakNits?: number | undefined;
  /** True for grey of 16 to 235, which the decoder does not expand (strukturag/libheif). */
  readonly isLimitedGrey?: boolean | undefined;
}

/** Converts a signal from 0 to 1 to light from 0 to 1. */
type Transfer = (signal: number) => number;

/** Chromaticities of white, red, green and blue. */
type Primaries = readonly number[];

const d65 = [0.3127, 0.329] as const;

/** The primaries of H.273, table 2. Unspecified ones are those of sRGB. */
const primariesOf: Readonly<Record<number, Primaries>> = {
  1: [...d65, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06],
  4: [0.31, 0.316, 0.67, 0.33, 0.21, 0.71, 0.14, 0.08],
  5: [...d65, 0.64, 0.33, 0.29, 0.6, 0.15, 0.06],
  6: [...d65, 0.63, 0.34, 0.31, 0.595, 0.155, 0.07],
  7: [...d65, 0.63, 0.34, 0.31, 0.595, 0.155, 0.07],
  8: [0.31, 0.316, 0.681, 0.319, 0.243, 0.692, 0.145, 0.049],
  9: [...d65, 0.708, 0.292, 0.17, 0.797, 0.131, 0.046],
  10: [1 / 3, 1 / 3, 1, 0, 0, 1, 0, 0],
  11: [0.314, 0.351, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06],
  12: [...d65, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06],
  22: [...d65, 0.63, 0.34, 0.295, 0.605, 0.155, 0.077],
};

const power =
  (exponent: number): Transfer =>
  (signal) =>
    signal ** exponent;
const srgb: Transfer = (signal) => (signal <= 0.04045 ? signal / 12.92 : ((signal + 0.055) / 1.055) ** 2.4);
/** BT.1886: what a display makes of the signal of BT.601, BT.709 and BT.2020. */
const display = power(2.4);

/** The transfers of H.273, table 3, that end at the white of a screen. */
const transferOf: Readonly<Record<number, Transfer>> = {
  1: display,
  4: power(2.2),
  5: power(2.8),
  6: display,
  7: (signal) => (signal < 0.0913 ? signal / 4 : ((signal + 0.1115) / 1.1115) ** (1 / 0.45)),
  8: power(1),
  11: display,
  12: display,
  13: srgb,
  14: display,
  15: display,
  17: (signal) => Math.min(1, (52.37 / 48) * signal ** 2.6),
};
const unspecified = 2;
const pq = 16;
const hlg = 18;

/** Luminance of white paper, and of the brightest pixel where the file does not tell it (BT.2408). */
export const whiteNits = 203;
export const peakNitsDefault = 1_000;
const pqNitsMax = 10_000;

/** SMPTE ST 2084: light relative to white. */
const perceptual: Transfer = (signal) => {
  const root = signal ** (1 / 78.84375);
  const light = Math.max(0, root - 0.8359375) / (18.8515625 - 18.6875 * root);
  return (light ** (1 / 0.1593017578125) * pqNitsMax) / whiteNits;
};

/** ARIB STD-B67: light of the scene, before the display's gamma. */
const hybrid: Transfer = (signal) =>
  signal <= 0.5 ? signal ** 2 / 3 : (Math.exp((signal - 0.55991073) / 0.17883277) + 0.28466892) / 12;

/** Returns true where both code points have a meaning here. */
export function isConvertible({ primaries, transfer, gamma }: ColourCoding): boolean {
  const isLight = gamma !== undefined || [unspecified, pq, hlg].includes(transfer) || transfer in transferOf;
  return isLight && (typeof primaries === "object" || primaries === unspecified || primaries in primariesOf);
}

export function hdrOf({ transfer }: Pick<ColourCoding, "transfer">): "pq" | "hlg" | null {
  return transfer === pq ? "pq" : transfer === hlg ? "hlg" : null;
}

export function transferFrom({ transfer, gamma }: ColourCoding): Transfer {
  if (gamma !== undefined) return power(gamma);
  if (transfer === pq) return perceptual;
  return transfer === hlg ? hybrid : (transferOf[transfer] ?? srgb);
}

/** A matrix of three rows. */
export type Matrix = readonly number[];

const bradford: Matrix = [0.8951, 0.2664, -0.1614, -0.7502, 1.7135, 0.0367, 0.0389, -0.0685, 1.0296];
const xyz = (x: number, y: number) => [x, y, 1 - x - y];
const white = (x: number, y: number) => xyz(x, y).map((value) => value / y);
const rec2020 = primariesOf[9] as Primaries;
const rec709 = primariesOf[1] as Primaries;
export const rec2020ToSrgb: Matrix = times(inverse(toXyz(rec709)), toXyz(rec2020));

/** Returns the matrix from light in these primaries to light in those of sRGB, or of BT.2020 where it is compressed. */
export function matrixFrom({ primaries, transfer }: ColourCoding): Matrix {
  const from = typeof primaries === "object" ? primaries : (primariesOf[primaries] ?? rec709);
  return times(inverse(toXyz(hdrOf({ transfer }) ? rec2020 : rec709)), toXyz(from));
}

/** Returns the matrix from light to XYZ, with white adapted to D65 (Bradford). */
function toXyz(primaries: Primaries): Matrix {
  const [wx = 0, wy = 0, ...corners] = primaries;
  const columns = [0, 2, 4].map((at) => xyz(corners[at] ?? 0, corners[at + 1] ?? 0));
  const raw = [0, 1, 2].flatMap((row) => columns.map((column) => column[row] ?? 0));
  const scale = apply(inverse(raw), white(wx, wy));
  const scaled = raw.map((value, at) => value * (scale[at % 3] ?? 0));
  const [seen, wanted] = [apply(bradford, white(wx, wy)), apply(bradford, white(...d65))];
  const gains = [0, 1, 2].map((at) => (wanted[at] ?? 0) / (seen[at] ?? 1));
  const adapted = bradford.map((value, at) => value * (gains[Math.floor(at / 3)] ?? 0));
  return times(times(inverse(bradford), adapted), scaled);
}

function apply(matrix: Matrix, vector: readonly number[]): number[] {
  return [0, 3, 6].map((row) => [0, 1, 2].reduce((sum, at) => sum + (matrix[row + at] ?? 0) * (vector[at] ?? 0), 0));
}

function times(left: Matrix, right: Matrix): Matrix {
  const columns = [0, 1, 2].map((column) =>
    apply(
      left,
      [0, 3, 6].map((row) => right[row + column] ?? 0),
    ),
  );
  return [0, 1, 2].flatMap((row) => columns.map((column) => column[row] ?? 0));
}

function inverse([a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0]: Matrix): Matrix {
  const [A, D, G] = [e * i - f * h, f * g - d * i, d * h - e * g];
  const determinant = a * A + b * D + c * G;
  const adjugate = [A, c * h - b * i, b * f - c * e, D, a * i - c * g, c * d - a * f, G, b * g - a * h, a * e - b * d];
  return adjugate.map((value) => value / determinant);
}
