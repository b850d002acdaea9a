import { seconds } from "@signalbox/core";
import type { ClassifiedChange } from "./override-copy.ts";

/** The changes of one revision read so far, by property. */
type Changes = ReadonlyMap<string, ClassifiedChange>;

/**
 * The records of a revision are published together, so the rest of one is late only during a failure of the log or its
 * writer.
 */
const gatherMs = seconds(2);

/**
 * Holds back the changes of a revision until it is complete, so that properties changed together also change together
 * here. Missing ones are waited for up to a limit.
 */
export function createRevisionGathering(take: (changes: Changes) => void, waitMs = gatherMs) {
  const incomplete = new Map<
    number,
    { readonly changes: Map<string, ClassifiedChange>; readonly timer: NodeJS.Timeout }
  >();

  function end(revision: number): void {
    const gathered = incomplete.get(revision);
    if (gathered === undefined) return;
    clearTimeout(gathered.timer);
    incomplete.delete(revision);
    take(gathered.changes);
  }

  return {
    /** Adds one of `together` changes of its revision. */
    add(property: string, change: ClassifiedChange, together: number): void {
      const { revision } = change;
      if (together <= 1) {
        take(new Map([[property, change]]));
        return;
      }
      const start = () => ({ changes: new Map(), timer: setTimeout(() => end(revision), waitMs).unref() });
      const gathered = incomplete.get(revision) ?? start();
      incomplete.set(revision, gathered);
      gathered.changes.set(property, change);
      if (gathered.changes.size >= together) end(revision);
    },
  };
}
