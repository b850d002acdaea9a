import { setTimeout as sleep } from "node:timers/promises";
import type { Cache } from "@signalbox/cache";
import { type Clock, seconds } from "@signalbox/core";
import type { JobTerms, Rendition } from "@signalbox/imaging";
import type { Logger } from "@signalbox/telemetry";
import { keyOf } from "../blobs/blob-keys.ts";
import type { Image } from "../images/image.ts";
import type { RenderBudget } from "./render-budget.ts";
import type { RenditionMaker } from "./rendition-maker.ts";
import { SharedWork } from "./shared-work.ts";
import type { RenditionContent, StoredRenditions, Wanted } from "./stored-renditions.ts";

interface Dependencies {
  readonly storedRenditions: StoredRenditions;
  readonly renditionMaker: RenditionMaker;
  readonly renderBudget: RenderBudget;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Longest wait for another instance before the work is done twice, and the interval of looking into the cache. */
const waitForOtherMs = seconds(10);
const lookAgainMs = 25;
const leaseMs = seconds(30);

/** Provides renditions: from memory, from the store, or rendered now, by one caller for all that want it. */
export class Renderer {
  readonly #parts: Dependencies;
  /** Null for waiting callers when the work took too long after all. */
  readonly #underWay = new SharedWork<Buffer | null>();

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /**
   * Obtains a rendition for a caller until it disconnects. `isOnBudget` charges new renditions to the owner's budget.
   * @throws AppError `rate_limited` when it cannot be made in time, `validation_error` when it cannot be made.
   */
  async obtain(
    image: Image,
    rendition: Rendition,
    terms: JobTerms,
    { isOnBudget }: { readonly isOnBudget: boolean },
  ): Promise<RenditionContent> {
    const { storedRenditions, renditionMaker, renderBudget } = this.#parts;
    const key = keyOf(image, rendition);
    const wanted = { key, image, rendition };
    const remembered = storedRenditions.remembered(key);
    if (remembered) return { kind: "bytes", bytes: remembered };
    if (!this.#underWay.has(key)) {
      const stored = await storedRenditions.find(key);
      if (stored) return stored;
      if (renditionMaker.isForLater(wanted, terms)) return { kind: "later" };
      if (isOnBudget) {
        renderBudget.requireLeft(image.accountId);
        renderBudget.spend(image.accountId, renditionMaker.expectMs(image, rendition));
      }
    }
    const work = (signal: AbortSignal) => this.#renderUnderLease(wanted, { ...terms, signal });
    const bytes = await this.#underWay.join(key, work, terms.signal);
    return bytes ? { kind: "bytes", bytes } : { kind: "later" };
  }

  /** Estimates the time that rendering takes. */
  expectMs(image: Image, rendition: Rendition): number {
    return this.#parts.renditionMaker.expectMs(image, rendition);
  }

  /** Renders under a lease, which only saves work: without it, or with a slow holder, the same bytes are made twice. */
  async #renderUnderLease(wanted: Wanted, terms: JobTerms): Promise<Buffer | null> {
    const { storedRenditions, renditionMaker, cache, log } = this.#parts;
    const { key } = wanted;
    const lease = await cache.lease(`render:${key}`, { durationMs: leaseMs });
    if (!lease && cache.state === "up") {
      const theirs = await this.#waitForOther(key, terms);
      if (theirs) return theirs;
    }
    let kept: Promise<void> = Promise.resolve();
    try {
      const made = await renditionMaker.make(wanted, terms);
      if (!made) return null;
      const { bytes, file, path } = made;
      storedRenditions.remember(key, bytes);
      // Stored in the background for later callers, who may find it missing: this one already has the bytes.
      kept = storedRenditions
        .keep(wanted, file, path)
        .catch((error: unknown) => log.warn({ error, key }, "storing a rendition failed"));
      return bytes;
    } finally {
      void kept.then(() => lease?.release());
    }
  }

  /** Waits for another instance, which announces the stored rendition in the cache, so that the store is not polled. */
  async #waitForOther(key: string, { signal, endsByMs }: JobTerms): Promise<Buffer | null> {
    const { clock, storedRenditions } = this.#parts;
    const until = Math.min(clock.steadyMs() + waitForOtherMs, endsByMs ?? Number.POSITIVE_INFINITY);
    while (clock.steadyMs() < until) {
      await sleep(lookAgainMs, undefined, { signal });
      if (await storedRenditions.isAnnounced(key)) return storedRenditions.read(key);
    }
    return null;
  }
}
