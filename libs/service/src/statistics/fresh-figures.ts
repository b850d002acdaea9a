import { minutes } from "@signalbox/core";
import type { StoredFigures } from "./figures.ts";
import { binOf, noBins, singleBin } from "./histogram.ts";

/** The part of one event, such as an attempt, in the figures. */
export interface FreshEntry {
  readonly accountId: string;
  /** Such as an endpoint; null for what belongs to the account alone. */
  readonly subjectId: string | null;
  readonly atMs: number;
  readonly labels: readonly (string | null)[];
  readonly counts: readonly number[];
  /** Whole milliseconds that it took, where they are measured. */
  readonly durationMs?: number;
}

/**
 * A batch: texts that its entries name by their places from 1, 0 for none; the minute of the first entry; the number of
 * labels of each; and the entries.
 */
type Batch = readonly [texts: string[], minute: number, labels: number, entries: Counted[]];
type Counted = [
  account: number,
  subject: number,
  minutesLater: number,
  bin: number | null,
  ...labelsAndCounts: number[],
];

/** Figures of a batch as they are read: each at its minute. */
export interface FreshFigures {
  readonly accountId: string;
  readonly subjectId: string | null;
  readonly atMs: number;
  readonly figures: StoredFigures;
}

/**
 * Returns the text of a batch, one row whatever it counts: a row for each group would cost the batch several times as
 * much. The statement of the batch adds which entries count, when not all of them do.
 */
export function freshBatch(entries: readonly FreshEntry[]): string {
  const places = new Map<string, number>();
  const placeOf = (text: string | null): number => {
    if (text === null) return 0;
    const known = places.get(text);
    if (known !== undefined) return known;
    places.set(text, places.size + 1);
    return places.size;
  };
  const first = Math.floor((entries[0]?.atMs ?? 0) / minutes(1));
  const counted = entries.map(({ accountId, subjectId, atMs, labels, counts, durationMs }): Counted => {
    const minutesLater = Math.floor(atMs / minutes(1)) - first;
    const bin = durationMs === undefined ? null : binOf(durationMs);
    const entry: Counted = [placeOf(accountId), placeOf(subjectId), minutesLater, bin];
    for (const label of labels) entry.push(placeOf(label));
    for (const count of counts) entry.push(count);
    return entry;
  });
  return JSON.stringify([[...places.keys()], first, entries[0]?.labels.length ?? 0, counted] satisfies Batch);
}

/** Reads a batch; `counted` has the places of the entries that count, from 1, or is null for all. */
export function readBatch(batch: string, counted: readonly number[] | null): FreshFigures[] {
  const [texts, first, dimensions, entries] = JSON.parse(batch) as Batch;
  const chosen = counted === null ? entries : counted.map((place) => entries[place - 1] as Counted);
  return chosen.map(([account, subject, minutesLater, bin, ...rest]) => ({
    accountId: texts[account - 1] as string,
    subjectId: texts[subject - 1] ?? null,
    atMs: minutes(first + minutesLater),
    figures: [
      rest.slice(0, dimensions).map((place) => texts[place - 1] ?? null),
      rest.slice(dimensions),
      bin === null ? noBins : singleBin(bin),
    ],
  }));
}
