import { labelsKey, otherLabel, type StoredFigures } from "./figures.ts";
import { type Bins, noBins } from "./histogram.ts";
import type { PeriodFigures } from "./statistics.ts";

interface Wanted {
  readonly bucketMs: number;
  /** True for each dimension that the figures are grouped by. */
  readonly isGrouped: readonly boolean[];
  /** For each dimension the value that a label must have, or a prefix that ends in `*`. */
  readonly filters: readonly (string | undefined)[];
}

/** Counts, and the histograms that add up to that of their times. */
interface Sum {
  readonly counts: number[];
  readonly histograms: Bins[];
}

interface Group {
  /** Null for the dimensions that the figures are not grouped by. */
  readonly labels: StoredFigures[0];
  /** The counts of the whole range. */
  readonly counts: number[];
  readonly byStart: Map<number, Sum>;
}

/** Bounds of an answer. What is beyond them is one group, all of whose labels are `other`. */
const groupsMax = 50;
const itemsMax = 5_000;

/** Figures by group, the largest first, and by bucket and group, in the order of time; the items of a group share its labels. */
export interface Summary {
  readonly totals: readonly Pick<Group, "labels" | "counts">[];
  readonly items: readonly { readonly startMs: number; readonly labels: Group["labels"]; readonly sum: Sum }[];
}

/** Sums up figures. */
export function summarize(periods: Iterable<PeriodFigures>, wanted: Wanted): Summary {
  const groups = largestOf(groupsOf(periods, wanted), wanted);
  const items = groups.flatMap(({ labels, byStart }) =>
    [...byStart].map(([startMs, sum]) => ({ startMs, labels, sum })),
  );
  return {
    totals: groups,
    // The sort is stable: within a bucket the largest group stays first.
    items: items.toSorted((one, other) => one.startMs - other.startMs),
  };
}

function groupsOf(periods: Iterable<PeriodFigures>, { bucketMs, isGrouped, filters }: Wanted): Group[] {
  const groups = new Map<string, Group>();
  /** The groups by all labels, of which thousands of rows share one object; null for filtered ones. */
  const groupByLabels = new Map<StoredFigures[0], Group | null>();
  const groupOf = (known: StoredFigures[0]): Group | null => {
    if (!known.every((label, place) => fits(label, filters[place]))) return null;
    const labels = known.map((label, place) => (isGrouped[place] ? label : null));
    const key = labelsKey(labels);
    const group = groups.get(key) ?? emptyGroup(labels);
    groups.set(key, group);
    return group;
  };
  for (const { atMs, figures } of periods) {
    const startMs = Math.floor(atMs / bucketMs) * bucketMs;
    for (const [labels, counts, bins] of figures) {
      const known = groupByLabels.get(labels);
      const group = known === undefined ? groupOf(labels) : known;
      if (known === undefined) groupByLabels.set(labels, group);
      if (group) addToGroup(group, startMs, counts, bins);
    }
  }
  return [...groups.values()];
}

const emptyGroup = (labels: Group["labels"]): Group => ({ labels, counts: [], byStart: new Map() });

function addToGroup(group: Group, startMs: number, counts: readonly number[], bins: Bins) {
  let bucket = group.byStart.get(startMs);
  if (bucket === undefined) {
    bucket = { counts: [], histograms: [] };
    group.byStart.set(startMs, bucket);
  }
  addCounts(bucket.counts, counts);
  addCounts(group.counts, counts);
  bucket.histograms.push(bins);
}

function addCounts(sum: number[], counts: readonly number[]): void {
  for (let place = 0; place < counts.length; place++) sum[place] = (sum[place] ?? 0) + (counts[place] as number);
}

function fits(label: string | null, filter: string | undefined): boolean {
  if (filter === undefined) return true;
  return filter.endsWith("*") ? (label ?? "").startsWith(filter.slice(0, -1)) : label === filter;
}

/** Keeps as many groups as an answer may have, the largest first, and adds the others up. */
function largestOf(groups: readonly Group[], { isGrouped }: Wanted): Group[] {
  const sorted = groups.toSorted((one, other) => sizeOf(other) - sizeOf(one));
  let items = 0;
  const isBeyond = ({ byStart }: Group, place: number): boolean => {
    items += byStart.size;
    return items > itemsMax || place >= groupsMax;
  };
  const beyond = sorted.findIndex(isBeyond);
  const max = beyond < 0 ? sorted.length : Math.max(1, beyond);
  if (sorted.length <= max) return sorted;
  const rest = emptyGroup(isGrouped.map((is) => (is ? otherLabel : null)));
  for (const { byStart } of sorted.slice(max)) {
    for (const [startMs, { counts, histograms }] of byStart) {
      addToGroup(rest, startMs, counts, histograms[0] ?? noBins);
      for (const more of histograms.slice(1)) addToGroup(rest, startMs, [], more);
    }
  }
  return [...sorted.slice(0, max), rest];
}

const sizeOf = ({ counts }: Group): number => counts.reduce((sum, count) => sum + count, 0);
