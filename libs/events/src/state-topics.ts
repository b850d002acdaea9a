import { hours } from "@signalbox/core";

/** How often whoever owns a state topic says on it again what its database holds, unless it has said so just before. */
export const stateRepetitionMs = hours(1);

/**
 * Records of a compacted topic stay for this long, whatever else is said of their key. A publish that arrives late, behind a
 * newer one, would otherwise be all that is left: until the next repetition a reader finds the newer one beside it.
 */
export const compactionLagMs = 3 * stateRepetitionMs;
