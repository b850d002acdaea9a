import { addToBin, appendNumber, type Bins, binsOf, eachBin, type Histogram, readNumber } from "./histogram.ts";

/** The figures of one combination of labels: a number for each counter, and the times that were measured. */
interface Figures {
  /** One value for each dimension, such as the type of an event; null where it has none. */
  readonly labels: readonly (string | null)[];
  readonly counts: number[];
  readonly histogram: Histogram;
}

/** The figures of one time, by their labels. */
export type FigureTable = Map<string, Figures>;

/** Figures that are added up no further. */
export type StoredFigures = readonly [labels: readonly (string | null)[], counts: readonly number[], bins: Bins];

/** The columns of a row: the labels of its combinations as JSON, and the counts and bins of each in this order. */
export interface FigureColumns {
  readonly labels: string;
  readonly figures: Uint8Array;
}

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

const storedOf = ({ labels, counts, histogram }: Figures): StoredFigures => [labels, counts, binsOf(histogram)];

/** Returns the figures of a table. */
export const tableStored = (table: FigureTable): StoredFigures[] => [...table.values()].map(storedOf);

/** Returns the columns of a table. Its combinations are sorted, so that rows with the same ones have the same text. */
export function columnsOfTable(table: FigureTable): FigureColumns {
  const sorted = [...table].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, figures]) => figures);
  const bytes: number[] = [];
  for (const { counts, histogram } of sorted) {
    const bins = binsOf(histogram);
    for (const number of [counts.length, ...counts, bins.to]) appendNumber(bytes, number);
    bytes.push(...bins.bytes);
  }
  return { labels: JSON.stringify(sorted.map(({ labels }) => labels)), figures: Buffer.from(bytes) };
}

/** Creates a reader of columns that parses a text of labels once: most rows of a subject have the same. */
export function createFigureReader(): (columns: FigureColumns) => StoredFigures[] {
  const known = new Map<string, StoredFigures[0][]>();
  return ({ labels: text, figures: bytes }) => {
    const all = known.get(text) ?? (JSON.parse(text) as StoredFigures[0][]);
    known.set(text, all);
    const cursor = { place: 0 };
    return all.map((labels): StoredFigures => {
      const counts = Array.from({ length: readNumber(bytes, cursor) }, () => readNumber(bytes, cursor));
      const length = readNumber(bytes, cursor);
      const from = cursor.place;
      cursor.place += length;
      return [labels, counts, { bytes, from, to: cursor.place }];
    });
  };
}

function addFigures(sum: Figures, [, counts, bins]: StoredFigures): void {
  for (const [index, count] of counts.entries()) sum.counts[index] = (sum.counts[index] ?? 0) + count;
  eachBin(bins, (bin, count) => addToBin(sum.histogram, bin, count));
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
