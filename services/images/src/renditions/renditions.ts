import { type Clock, entryLimit, minutes, newId, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { Rendition } from "@signalbox/imaging";
import { inTransaction, type Pool } from "@signalbox/storage";
import { LRUCache } from "lru-cache";
import { keyOf } from "../blobs/blob-keys.ts";
import type { RenditionStore } from "../blobs/rendition-store.ts";
import type { Image } from "../images/image.ts";
import { singleRenderRequested } from "../images/render-job.ts";
import { chooseRendition, type RenditionChoice } from "./choose-rendition.ts";
import type { ContentQuery } from "./content-query.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly renditionStore: RenditionStore;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
  readonly isAvifOffered: () => boolean;
  /** Largest AVIF, in pixels, that is made while a caller waits. */
  readonly avifPixelsMax: () => number;
}

export type Renditions = ReturnType<typeof createRenditions>;

/** Longer than any job takes; an older request was lost and may be repeated. */
const staleAfterMs = minutes(10);
/** Time for which a stored rendition counts as stored without another check. */
const knownMs = seconds(10);

/** Chooses the rendition for a request, and the ones to request from the worker. */
export function createRenditions(dependencies: Dependencies) {
  const { pool, renditionStore, outbox, clock } = dependencies;
  // Browsers prefer AVIF, so each of their requests checks whether it is stored.
  const known = new LRUCache<string, true>({ ...entryLimit(10_000), ttl: knownMs });
  // Times of the last requests: saves the round trip to the database, which decides.
  const requested = new LRUCache<string, number>(entryLimit(10_000));

  return {
    /** Chooses the rendition from the record and the request alone: no bytes are read, so a 304 is cheap. */
    async choose(image: Image, query: ContentQuery, accept: string | undefined): Promise<RenditionChoice> {
      const request = { query, accept, isAvifOffered: dependencies.isAvifOffered() };
      const choice = chooseRendition(image, request, dependencies.avifPixelsMax());
      const awaited = awaitedOf(choice);
      if (awaited === null) return choice;
      const key = keyOf(image, awaited);
      const isStored = known.has(key) || (await renditionStore.isStored(key));
      if (isStored) known.set(key, true);
      return isStored ? chooseRendition(image, request, Number.POSITIVE_INFINITY) : choice;
    },

    /** Returns true when the rendition crashed its processes and is not tried again for a while. */
    isRefused: (image: Image, rendition: Rendition): Promise<boolean> =>
      renditionStore.isRefused(keyOf(image, rendition), clock.now()),

    /** Requests a rendition from the worker, once for all callers. Returns true for the first one. */
    async request(image: Image, rendition: Rendition): Promise<boolean> {
      const key = keyOf(image, rendition);
      const now = clock.now();
      const staleBefore = new Date(now.getTime() - staleAfterMs);
      if ((requested.get(key) ?? 0) > staleBefore.getTime()) return false;
      const jobId = newId("job");
      const asked = await inTransaction(pool, async (tx) => {
        const isFirst = await renditionStore.claimRequest(tx, { key, of: image, jobId, now, staleBefore });
        if (isFirst) await outbox.append(tx, [singleRenderRequested(image, jobId, rendition)]);
        return isFirst;
      });
      requested.set(key, now.getTime());
      return asked;
    },
  };
}

/** Returns the rendition that would be shown if it were stored. */
function awaitedOf(choice: RenditionChoice): Rendition | null {
  if (choice.outcome === "only-later") return choice.rendition;
  return choice.outcome === "chosen" ? choice.later : null;
}
