import { type Clock, minutes } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { type Rendition, renditionKey } from "@signalbox/imaging";
import { inTransaction, type Pool } from "@signalbox/storage";
import type { Image } from "../images/image.ts";
import { singleRenderRequested } from "./render-job.ts";
import type { RenditionStore } from "./rendition-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly renditions: RenditionStore;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
}

/** Longer than any job takes; a request older than this was lost and may be repeated. */
const staleAfterMs = minutes(10);
const rememberedMax = 10_000;

/** Asks the worker for a rendition, once however many callers want it. */
export function createRequestRendition({ pool, renditions, outbox, clock }: Dependencies) {
  // Only saves the round trip to the database, which decides.
  const asked = new Map<string, number>();

  return async function requestRendition(image: Image, rendition: Rendition): Promise<void> {
    const key = renditionKey(image.sha256, rendition);
    const now = clock.now();
    const staleBefore = new Date(now.getTime() - staleAfterMs);
    if ((asked.get(key) ?? 0) > staleBefore.getTime()) return;
    await inTransaction(pool, async (tx) => {
      const isFirst = await renditions.claimRequest(tx, { key, sha256: image.sha256, now, staleBefore });
      if (isFirst) await outbox.append(tx, [singleRenderRequested(image, rendition)]);
    });
    if (asked.size >= rememberedMax) asked.clear();
    asked.set(key, now.getTime());
  };
}
