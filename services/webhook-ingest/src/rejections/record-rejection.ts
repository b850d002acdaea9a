import { type Clock, newId, seconds } from "@signalbox/core";
import type { Logger } from "@signalbox/telemetry";
import type { RejectedWebhook, Rejection } from "./rejection.ts";
import type { RejectionFigures } from "./rejection-figures.ts";
import type { RejectionStore } from "./rejection-store.ts";

export type RecordRejection = (
  rejection: Pick<Rejection, "sourceId" | "reason" | "status" | "bodyBytes" | "address">,
  more?: {
    /** Given when the source keeps refused webhooks. */
    readonly webhook?: RejectedWebhook | null;
    /** Called for a rejection that is written. */
    readonly figures?: (() => RejectionFigures) | undefined;
  },
) => void;

interface Dependencies {
  readonly rejectionStore: Pick<RejectionStore, "insert">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Number of the newest rejections that are kept for each source. */
  readonly keptMax: () => number;
  /** Counts a rejection that was not written. */
  readonly onDropped: () => void;
}

/** Rejections written per source and second. Anybody can cause rejections at any rate, so the writes are bounded. */
const writtenPerSecondMax = 10;
const sourcesRememberedMax = 10_000;

/**
 * Creates the operation that records why a delivery was refused, for its owner. It is not part of the answer: a partner
 * with a wrong secret gets its answer even while the database is away. Beyond the bound rejections are only counted;
 * the log gets the first of each second.
 */
export function createRecordRejection({
  rejectionStore,
  clock,
  log,
  keptMax,
  onDropped,
}: Dependencies): RecordRejection {
  let windowEndsMs = 0;
  const written = new Map<string, number>();

  /** Returns the number of this rejection among those of its source in this second, from 1. */
  function nthOf(sourceId: string): number {
    if (clock.nowMs() >= windowEndsMs || written.size >= sourcesRememberedMax) {
      written.clear();
      windowEndsMs = clock.nowMs() + seconds(1);
    }
    const nth = (written.get(sourceId) ?? 0) + 1;
    written.set(sourceId, nth);
    return nth;
  }

  return (rejection, { webhook = null, figures } = {}) => {
    const nth = nthOf(rejection.sourceId);
    if (nth === 1) log.info(rejection, "webhook refused");
    if (nth > writtenPerSecondMax) return onDropped();
    const row = {
      ...rejection,
      id: newId("rej", clock.nowMs()),
      rejectedAt: clock.now(),
      figures: figures?.() ?? null,
    };
    rejectionStore.insert(row, keptMax(), webhook).catch((error: unknown) => {
      onDropped();
      log.warn({ error, sourceId: rejection.sourceId }, "a rejection could not be written");
    });
  };
}
