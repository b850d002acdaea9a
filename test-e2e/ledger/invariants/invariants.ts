import type { Evidence, Invariant } from "../evidence.ts";
import { whyIsTrue } from "./chains.ts";
import { changeAndEvent, commitOrder, lastEventIsState, oneEventId, stepsBack } from "./events.ts";
import {
  deliveredOnce,
  endedStaysEnded,
  healthIsTrue,
  nothingLeft,
  overrideEverywhere,
  revisedOnce,
} from "./outside.ts";
import { carriedAsWritten, publishedOnce, replayedOnce } from "./publishing.ts";
import { pulledInOrder, pulledOnce } from "./pulling.ts";
import { bytesAreWhole, everyOkIsReadable, keyedOnce, noLostUpdate } from "./reading.ts";
import { signedUrlsHold } from "./signed-urls.ts";
import { toldInOrder } from "./telling.ts";

/** The invariants of every round. Each new promise of the product adds its sentence here. */
export const invariants: readonly Invariant[] = [
  everyOkIsReadable,
  bytesAreWhole,
  changeAndEvent,
  oneEventId,
  commitOrder,
  lastEventIsState,
  noLostUpdate,
  keyedOnce,
  deliveredOnce,
  publishedOnce,
  carriedAsWritten,
  replayedOnce,
  pulledOnce,
  pulledInOrder,
  toldInOrder,
  signedUrlsHold,
  endedStaysEnded,
  overrideEverywhere,
  revisedOnce,
  nothingLeft,
  healthIsTrue,
  stepsBack,
  whyIsTrue,
];

/** A violated invariant, with each place. */
export interface Broken {
  readonly invariant: string;
  readonly sentence: string;
  readonly violations: readonly string[];
}

export function judge(evidence: Evidence): Broken[] {
  return invariants
    .map(({ name, sentence, violations }) => ({ invariant: name, sentence, violations: violations(evidence) }))
    .filter(({ violations }) => violations.length > 0);
}
