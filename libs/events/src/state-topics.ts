import { hours } from "@signalbox/core";

/**
 * Interval at which the owner of a state topic repeats the content of its database there, unless it was just published.
 */
export const stateRepetitionMs = hours(1);

/**
 * Minimum age before compaction may remove a record. A late publish that lands behind a newer one would otherwise be
 * the only record left: until the next repetition a reader still finds the newer one beside it.
 */
export const compactionLagMs = 3 * stateRepetitionMs;
