import {
  addFigures,
  emptyFigures,
  type Figures,
  otherLabel,
  type PeriodFigures,
  type StoredFigures,
  storedOf,
} from "@signalbox/storage";

interface Wanted {
  readonly bucketMs: number;
  /** The length of the range in buckets. */
  readonly buckets: number;
  /** True for each dimension that the figures are grouped by. */
  readonly isGrouped: readonly boolean[];
  /** For each dimension the value that a label must have, or a prefix that ends in `*`. */
  readonly filters: readonly (string | undefined)[];
}

/** The figures of a group, with null for the dimensions that it is not grouped by. */
export interface GroupedFigures {
  readonly labels: Figures["labels"];
  readonly figures: Figures;
}

interface Group {
  readonly labels: Figures["labels"];
  readonly total: Figures;
  readonly byStart: Map<number, Figures>;
}

/** Bounds of an answer. What is beyond them is one group, all of whose labels are `other`. */
const groupsMax = 50;
const itemsMax = 10_000;

/** Sums up figures by group, the largest first, and by bucket and group, in the order of time. */
export function summarize(periods: Iterable<PeriodFigures>, wanted: Wanted) {
  const groups = largestOf(groupsOf(periods, wanted), wanted);
  const items = groups.flatMap(({ labels, byStart }) =>
    [...byStart].map(([startMs, figures]) => ({ startMs, labels, figures })),
  );
  return {
    totals: groups.map(({ labels, total }): GroupedFigures => ({ labels, figures: total })),
    // The sort is stable: within a bucket the largest group stays first.
    items: items.toSorted((one, other) => one.startMs - other.startMs),
  };
}

function groupsOf(periods: Iterable<PeriodFigures>, { bucketMs, isGrouped, filters }: Wanted): Group[] {
  const groups = new Map<string, Group>();
  for (const { atMs, figures } of periods) {
    const startMs = Math.floor(atMs / bucketMs) * bucketMs;
    for (const one of figures) {
      if (!one[0].every((label, place) => fits(label, filters[place]))) continue;
      const labels = one[0].map((label, place) => (isGrouped[place] ? label : null));
      const key = JSON.stringify(labels);
      const group = groups.get(key) ?? emptyGroup(labels);
      groups.set(key, group);
      addToGroup(group, startMs, one);
    }
  }
  return [...groups.values()];
}

const emptyGroup = (labels: Figures["labels"]): Group => ({
  labels,
  total: emptyFigures(labels),
  byStart: new Map(),
});

function addToGroup({ labels, total, byStart }: Group, startMs: number, stored: StoredFigures): void {
  const bucket = byStart.get(startMs) ?? emptyFigures(labels);
  byStart.set(startMs, bucket);
  addFigures(bucket, stored);
  addFigures(total, stored);
}

function fits(label: string | null, filter: string | undefined): boolean {
  if (filter === undefined) return true;
  return filter.endsWith("*") ? (label ?? "").startsWith(filter.slice(0, -1)) : label === filter;
}

/** Keeps as many groups as an answer may have, the largest first, and adds the others up. */
function largestOf(groups: readonly Group[], { buckets, isGrouped }: Wanted): Group[] {
  const sorted = groups.toSorted((one, other) => sizeOf(other) - sizeOf(one));
  const max = Math.max(1, Math.min(groupsMax, Math.floor(itemsMax / buckets)));
  if (sorted.length <= max) return sorted;
  const rest = emptyGroup(isGrouped.map((is) => (is ? otherLabel : null)));
  for (const { byStart } of sorted.slice(max))
    for (const [startMs, figures] of byStart) addToGroup(rest, startMs, storedOf(figures));
  return [...sorted.slice(0, max), rest];
}

const sizeOf = ({ total: { counts } }: Group): number => counts.reduce((sum, count) => sum + count, 0);
