import { type Clock, hours } from "@signalbox/core";
import type { ObjectStore } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import { LRUCache } from "lru-cache";
import { renditionPrefix } from "../blobs/blob-keys.ts";
import type { Image } from "../images/image.ts";
import type { RenditionStore } from "./rendition-store.ts";
import { type EvictionRule, renditionsToEvict } from "./renditions-to-evict.ts";

interface Dependencies {
  readonly renditionStore: RenditionStore;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Renditions of one image that are made on demand and stay. The named variants do not count. */
const countMax = 64;
/** What they take together, as times of the original. */
const bytesShareMax = 4;
/** So many are made between two looks: until then none of them can be one too many. */
const lookEvery = 8;
/** An image that is asked for less often than this many others is looked at anew. */
const imagesRemembered = 10_000;

/** When it was asked for last is written down no more often than this. */
const seenEveryMs = hours(1);

/** Keeps the renditions that were made on demand within bounds: whoever writes a hundred qualities into URLs fills no disk. */
export function createKeptRenditions({ renditionStore, objects, clock, log }: Dependencies) {
  const seen = new LRUCache<string, true>({ max: imagesRemembered, ttl: seenEveryMs });
  const made = new LRUCache<string, number>({ max: imagesRemembered });

  return {
    /** Notes that a stored rendition was asked for. Nobody waits for it. */
    seen(key: string): void {
      if (seen.has(key)) return;
      seen.set(key, true);
      void renditionStore
        .markSeen(key, clock.now())
        .catch((error: unknown) => log.warn({ error, key }, "a rendition was not marked as seen"));
    },

    /** Counts a rendition that was stored, and lets the longest unseen go when there may be too many. */
    async added(image: Pick<Image, "accountId" | "sha256" | "sizeBytes">): Promise<number> {
      const prefix = renditionPrefix(image);
      const count = (made.get(prefix) ?? lookEvery - 1) + 1;
      made.set(prefix, count % lookEvery);
      if (count < lookEvery) return 0;
      const rule: EvictionRule = { countMax: countMax - lookEvery, bytesMax: bytesShareMax * image.sizeBytes };
      const keys = renditionsToEvict(await renditionStore.listOnDemand(image), rule);
      // The row first: a rendition without a row is swept with its original, a row without bytes would be believed.
      await renditionStore.removeMany(keys);
      for (const key of keys) await objects.delete(key);
      return keys.length;
    },
  };
}

export type KeptRenditions = ReturnType<typeof createKeptRenditions>;
