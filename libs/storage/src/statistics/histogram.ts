/**
 * Counts of values by bin, after DDSketch: the bounds of the bins grow by a constant factor, so that a value that is
 * estimated from its bin is wrong by a constant share at most. Histograms add up without another error.
 */
export type Histogram = Map<number, number>;

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

/** Counts while quantiles are estimated; one for all, because a read has thousands of histograms. */
const counts = new Float64Array(binMax + 1);

/**
 * Estimates quantiles by nearest rank, of the sum of histograms in their stored form: a bin, its count, the next bin and
 * so on. Each is null where nothing was counted. Shares are from 0 to 1, ascending.
 */
export function quantilesOf(histograms: readonly (readonly number[])[], shares: readonly number[]): (number | null)[] {
  let [total, least, most] = [0, binMax, 0];
  for (const bins of histograms) {
    for (let place = 0; place < bins.length; place += 2) {
      const bin = bins[place] as number;
      const count = bins[place + 1] as number;
      counts[bin] = (counts[bin] as number) + count;
      total += count;
      if (bin < least) least = bin;
      if (bin > most) most = bin;
    }
  }
  if (total === 0) return shares.map(() => null);
  let [bin, passed] = [least, counts[least] ?? 0];
  const found = shares.map((share) => {
    const rank = Math.max(1, Math.ceil(share * total));
    while (passed < rank && bin < most) passed += counts[++bin] ?? 0;
    return estimateOf(bin);
  });
  counts.fill(0, least, most + 1);
  return found;
}
