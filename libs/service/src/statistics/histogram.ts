/**
 * Counts of values by bin, after DDSketch: the bounds of the bins grow by a constant factor, so that a value that is
 * estimated from its bin is wrong by a constant share at most. Histograms add up without another error.
 */
export type Histogram = Map<number, number>;

/**
 * A histogram as it is stored: for each bin, ascending, its distance to the one before and its count, both in LEB128. It
 * lies in the bytes of its row: a read has twenty thousand histograms, and a typed array for each would be most of its
 * garbage.
 */
export interface Bins {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
}

export const noBins: Bins = { bytes: new Uint8Array(), from: 0, to: 0 };

/** Largest relative error of an estimate. Less than the 2 % that is promised: the answer is rounded too. */
const accuracy = 0.018;
const growth = (1 + accuracy) / (1 - accuracy);
const logGrowth = Math.log(growth);
/** Bin of a week in milliseconds, the longest lease and more. Longer times are counted in it. */
const binMax = 600;
/** Below this, bins are narrower than one, so that rounding finds the whole number that was measured. */
const exactBelow = 25;

/** Returns the bin of a whole number from 0 on. */
export const binOf = (value: number): number =>
  value < 1 ? 0 : Math.min(binMax, 1 + Math.max(0, Math.ceil(Math.log(value) / logGrowth)));

/** Returns the value that a bin stands for, rounded to a tenth; small values are exact. */
function estimateOf(bin: number): number {
  if (bin === 0) return 0;
  const value = (2 * growth ** (bin - 1)) / (growth + 1);
  return value < exactBelow ? Math.round(value) : Math.round(value * 10) / 10;
}

/** Adds `count` values to a bin. */
export function addToBin(histogram: Histogram, bin: number, count: number): void {
  histogram.set(bin, (histogram.get(bin) ?? 0) + count);
}

/** The bins of one value each, which a batch has many of. */
const singles: Bins[] = [];

/** Returns the histogram of one value. */
export const singleBin = (bin: number): Bins => (singles[bin] ??= binsOf(new Map([[bin, 1]])));

/** Returns a histogram in its stored form. */
export function binsOf(histogram: Histogram): Bins {
  const bytes: number[] = [];
  let before = 0;
  for (const [bin, count] of [...histogram].toSorted(([one], [other]) => one - other)) {
    appendNumber(bytes, bin - before);
    appendNumber(bytes, count);
    before = bin;
  }
  return { bytes: Uint8Array.from(bytes), from: 0, to: bytes.length };
}

/** Calls `visit` with each bin of a stored histogram and its count. */
export function eachBin({ bytes, from, to }: Bins, visit: (bin: number, count: number) => void): void {
  const cursor = { place: from };
  let bin = 0;
  while (cursor.place < to) {
    bin += readNumber(bytes, cursor);
    visit(bin, readNumber(bytes, cursor));
  }
}

/** A sum of histograms: the count of each bin at its place. */
type BinCounts = Float64Array;

export const noBinCounts = (): BinCounts => new Float64Array(binMax + 1);

/** Counts while quantiles are estimated; one for all, because a read has thousands of histograms. */
const counts = noBinCounts();

/**
 * Estimates quantiles by nearest rank, of the sum of histograms, which is added to `sum` too. Each is null where nothing
 * was counted. Shares are from 0 to 1, ascending.
 */
export function quantilesOf(
  histograms: readonly Bins[],
  shares: readonly number[],
  sum?: BinCounts,
): (number | null)[] {
  let [total, least, most] = [0, binMax, 0];
  const cursor = { place: 0 };
  // Not `eachBin`: variables that a callback shares are three times as slow.
  for (const { bytes, from, to } of histograms) {
    cursor.place = from;
    let bin = 0;
    while (cursor.place < to) {
      bin += readNumber(bytes, cursor);
      if (bin < least) least = bin;
      const count = readNumber(bytes, cursor);
      counts[bin] = (counts[bin] as number) + count;
      total += count;
    }
    if (bin > most) most = bin;
  }
  const found = estimatesOf(counts, { total, least, most }, shares);
  if (sum) for (let bin = least; bin <= most; bin++) sum[bin] = (sum[bin] as number) + (counts[bin] as number);
  counts.fill(0, least, most + 1);
  return found;
}

/** Estimates quantiles of a sum, like `quantilesOf`. */
export function quantilesOfCounts(sum: BinCounts, shares: readonly number[]): (number | null)[] {
  const total = sum.reduce((all, count) => all + count, 0);
  return estimatesOf(sum, { total, least: 0, most: binMax }, shares);
}

interface Extent {
  readonly total: number;
  /** The lowest and the highest bin that may have a count. */
  readonly least: number;
  readonly most: number;
}

function estimatesOf(of: BinCounts, { total, least, most }: Extent, shares: readonly number[]): (number | null)[] {
  if (total === 0) return shares.map(() => null);
  let [bin, passed] = [least, of[least] ?? 0];
  return shares.map((share) => {
    const rank = Math.max(1, Math.ceil(share * total));
    while (passed < rank && bin < most) passed += of[++bin] ?? 0;
    return estimateOf(bin);
  });
}

/** A place in bytes, which reading moves. */
interface Cursor {
  place: number;
}

/**
 * Appends a whole number from 0 to 2^53 - 1 in unsigned LEB128: seven bits a byte, the lowest first; all bytes but the
 * last have their highest bit set.
 */
export function appendNumber(bytes: number[], number: number): void {
  let rest = number;
  while (rest > 127) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/** Reads a number that `appendNumber` wrote, and moves the cursor behind it. */
export function readNumber(bytes: Uint8Array, cursor: Cursor): number {
  let byte = bytes[cursor.place++] as number;
  if (byte < 128) return byte;
  let [number, factor] = [byte & 127, 128];
  do {
    byte = bytes[cursor.place++] as number;
    number += (byte & 127) * factor;
    factor *= 128;
  } while (byte > 127);
  return number;
}
