import { type Clock, newId, seconds } from "@signalbox/core";
import type { Outbox, PreparedEvent } from "@signalbox/events";
import type { Logger } from "@signalbox/telemetry";
import type { SourceViews } from "../sources/source-view.ts";
import { type RejectedWebhook, type Rejection, type RejectionFigures, rejectedEvent } from "./rejection.ts";
import { isKeptWhole, type RejectionStore } from "./rejection-store.ts";

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
  readonly outbox: Pick<Outbox, "prepare" | "announce">;
  readonly verifyUrlOf: SourceViews["verifyUrlOf"];
  readonly clock: Clock;
  readonly log: Logger;
  /** Number of the newest rejections that are kept for each source. */
  readonly keptMax: () => number;
  /** Counts a rejection that was not written. */
  readonly onDropped: () => void;
}

/**
 * Rejections written per source and second, each with its event. Anybody can cause rejections at any rate, so the writes
 * are bounded.
 */
const writtenPerSecondMax = 10;
const sourcesRememberedMax = 10_000;

/**
 * Creates the operation that records why a delivery was refused, for its owner. It is not part of the answer: a partner
 * with a wrong secret gets its answer even while the database is away. Beyond the bound rejections are only counted;
 * the log gets the first of each second.
 */
export function createRecordRejection({
  rejectionStore,
  outbox,
  verifyUrlOf,
  clock,
  log,
  keptMax,
  onDropped,
}: Dependencies): (accountId: string, ...given: Parameters<RecordRejection>) => void {
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

  async function write(accountId: string, rejection: Rejection, webhook: RejectedWebhook | null): Promise<void> {
    const [event] = outbox.prepare([rejectedEvent(accountId, rejection, verifyUrlOf)]);
    outbox.announce(await rejectionStore.insert(rejection, event as PreparedEvent, keptMax(), webhook));
  }

  return (accountId, refused, { webhook = null, figures } = {}) => {
    const nth = nthOf(refused.sourceId);
    if (nth === 1) log.info(refused, "webhook refused");
    if (nth > writtenPerSecondMax) return onDropped();
    const rejection = {
      ...refused,
      id: newId("rej", clock.nowMs()),
      rejectedAt: clock.now(),
      figures: figures?.() ?? null,
      isKept: webhook !== null && isKeptWhole(webhook),
      receivedId: null,
    };
    write(accountId, rejection, webhook).catch((error: unknown) => {
      onDropped();
      log.warn({ error, sourceId: refused.sourceId }, "a rejection could not be written");
    });
  };
}
