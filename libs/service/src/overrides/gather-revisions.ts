import { seconds } from "@signalbox/core";
import type { ClassifiedChange } from "./override-copy.ts";

/** The changes of one revision that have been read, by property. */
type Changes = ReadonlyMap<string, ClassifiedChange>;

/** The records of a revision are published together, so the rest of one is late only where the log or its writer fails. */
const gatherMs = seconds(2);

/**
 * Holds the changes of a revision back until all of them are there, so that properties that were changed together also
 * change together here. What is missing for too long is not waited for.
 */
export function createRevisionGathering(take: (changes: Changes) => void, waitMs = gatherMs) {
  const begun = new Map<number, { readonly changes: Map<string, ClassifiedChange>; readonly timer: NodeJS.Timeout }>();

  function end(revision: number): void {
    const gathered = begun.get(revision);
    if (gathered === undefined) return;
    clearTimeout(gathered.timer);
    begun.delete(revision);
    take(gathered.changes);
  }

  return {
    /** Takes one of `together` changes of its revision. */
    add(property: string, change: ClassifiedChange, together: number): void {
      const { revision } = change;
      if (together <= 1) {
        take(new Map([[property, change]]));
        return;
      }
      const begins = () => ({ changes: new Map(), timer: setTimeout(() => end(revision), waitMs).unref() });
      const gathered = begun.get(revision) ?? begins();
      begun.set(revision, gathered);
      gathered.changes.set(property, change);
      if (gathered.changes.size >= together) end(revision);
    },
  };
}
