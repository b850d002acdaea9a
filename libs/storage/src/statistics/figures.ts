import { addToBin, type Histogram } from "./histogram.ts";

/** The figures of one combination of labels: a number for each counter, and the times that were measured. */
interface Figures {
  /** One value for each dimension, such as the type of an event; null where it has none. */
  readonly labels: readonly (string | null)[];
  readonly counts: number[];
  readonly histogram: Histogram;
}

/** The figures of one time, by their labels. */
export type FigureTable = Map<string, Figures>;

/** Figures as they are stored. */
export type StoredFigures = readonly [
  labels: readonly (string | null)[],
  counts: readonly number[],
  /** A bin, its count, the next bin and so on. */
  bins: readonly number[],
];

/**
 * Combinations in a table. Names are chosen by accounts: without a bound, an account with a type for each event would
 * make the table of a day as large as its events.
 */
const combinationsMax = 100;
/** The label of what is beyond a bound. */
export const otherLabel = "other";

/** Returns a key that no other labels have, whatever they hold. */
export function labelsKey(labels: Figures["labels"]): string {
  let key = "";
  for (const label of labels) key += label === null ? "-," : `${label.length} ${label},`;
  return key;
}

const emptyFigures = (labels: Figures["labels"]): Figures => ({ labels, counts: [], histogram: new Map() });

/** Returns figures in the form in which they are stored. */
export const storedOf = ({ labels, counts, histogram }: Figures): StoredFigures => [
  labels,
  counts,
  [...histogram].flat(),
];

function addFigures(sum: Figures, [, counts, bins]: StoredFigures): void {
  for (const [index, count] of counts.entries()) sum.counts[index] = (sum.counts[index] ?? 0) + count;
  for (let place = 0; place < bins.length; place += 2)
    addToBin(sum.histogram, bins[place] as number, bins[place + 1] as number);
}

/** Adds stored figures to those of a table with the same labels. Beyond its bound the first label counts as `other`. */
export function addToTable(table: FigureTable, stored: readonly StoredFigures[]): void {
  for (const one of stored) addFigures(placeOf(table, one[0]), one);
}

function placeOf(table: FigureTable, labels: Figures["labels"]): Figures {
  const key = labelsKey(labels);
  const known = table.get(key);
  if (known) return known;
  const isFull = table.size >= combinationsMax && labels.length > 0 && labels[0] !== otherLabel;
  if (isFull) return placeOf(table, [otherLabel, ...labels.slice(1)]);
  const figures = emptyFigures(labels);
  table.set(key, figures);
  return figures;
}
