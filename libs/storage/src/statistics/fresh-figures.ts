import { minutes } from "@signalbox/core";
import { labelsKey, type StoredFigures } from "./figures.ts";
import { binOf } from "./histogram.ts";

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

type Place = readonly [accountId: string, subjectId: string | null, minute: number, labels: FreshEntry["labels"]];
type Counted = readonly [place: number, bin: number | null, ...counts: number[]];

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
  const known = new Map<string, number>();
  const places: Place[] = [];
  const counted = entries.map(({ accountId, subjectId, atMs, labels, counts, durationMs }): Counted => {
    const minute = Math.floor(atMs / minutes(1));
    const key = `${accountId} ${subjectId} ${minute} ${labelsKey(labels)}`;
    const place = known.get(key) ?? places.push([accountId, subjectId, minute, labels]) - 1;
    known.set(key, place);
    return [place, durationMs === undefined ? null : binOf(durationMs), ...counts];
  });
  return JSON.stringify([places, counted]);
}

/** Reads a batch; `counted` has the places of the entries that count, from 1, or is null for all. */
export function readBatch(batch: string, counted: readonly number[] | null): FreshFigures[] {
  const [places, entries] = JSON.parse(batch) as [Place[], Counted[]];
  const chosen = counted === null ? entries : counted.map((place) => entries[place - 1] as Counted);
  return chosen.map(([place, bin, ...counts]) => {
    const [accountId, subjectId, minute, labels] = places[place] as Place;
    return { accountId, subjectId, atMs: minutes(minute), figures: [labels, counts, bin === null ? [] : [bin, 1]] };
  });
}
