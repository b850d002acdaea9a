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

/** Largest number of stored on-demand renditions of one image. The named variants do not count. */
const countMax = 64;
/** Largest size of them together, as a multiple of the original. */
const bytesShareMax = 4;
/** Number of new renditions between two checks: fewer cannot exceed the bounds. */
const lookEvery = 8;
/** An image that is requested less often than this many others is checked again. */
const imagesRemembered = 10_000;

/** Shortest time between two updates of a rendition's last use. */
const seenEveryMs = hours(1);

/** Limits the stored on-demand renditions: a client that requests a hundred qualities must not fill the disk. */
export function createKeptRenditions({ renditionStore, objects, clock, log }: Dependencies) {
  const seen = new LRUCache<string, true>({ max: imagesRemembered, ttl: seenEveryMs });
  const made = new LRUCache<string, number>({ max: imagesRemembered });

  return {
    /** Records a use of a stored rendition, in the background. */
    seen(key: string): void {
      if (seen.has(key)) return;
      seen.set(key, true);
      void renditionStore
        .markSeen(key, clock.now())
        .catch((error: unknown) => log.warn({ error, key }, "a rendition was not marked as seen"));
    },

    /** Counts a stored rendition, and removes the least recently used ones when there may be too many. */
    async added(image: Pick<Image, "accountId" | "sha256" | "sizeBytes">): Promise<number> {
      const prefix = renditionPrefix(image);
      const count = (made.get(prefix) ?? lookEvery - 1) + 1;
      made.set(prefix, count % lookEvery);
      if (count < lookEvery) return 0;
      const rule: EvictionRule = { countMax: countMax - lookEvery, bytesMax: bytesShareMax * image.sizeBytes };
      const keys = renditionsToEvict(await renditionStore.listOnDemand(image), rule);
      // The row first: a rendition without a row is swept with its original, but a row without bytes would count as
      // stored.
      await renditionStore.removeMany(keys);
      for (const key of keys) await objects.delete(key);
      return keys.length;
    },
  };
}

export type KeptRenditions = ReturnType<typeof createKeptRenditions>;
