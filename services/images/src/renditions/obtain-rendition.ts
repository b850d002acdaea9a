import { setTimeout as sleep } from "node:timers/promises";
import { seconds } from "@signalbox/core";
import type { JobTerms, Rendition } from "@signalbox/imaging";
import { keyOf } from "../blobs/blob-keys.ts";
import type { ImagesService } from "../context/images-service.ts";
import type { Image } from "../state/image.ts";
import { expectedMs, isForLater, makeRendition } from "./make-rendition.ts";
import {
  findStoredRendition,
  isAnnounced,
  keepRendition,
  type RenditionContent,
  readAnnounced,
  type Wanted,
} from "./stored-renditions.ts";

/** Longest wait for another instance before the work is done twice, and the interval of looking into the cache. */
const waitForOtherMs = seconds(10);
const lookAgainMs = 25;
const leaseMs = seconds(30);

/**
 * Obtains a rendition for a caller until it disconnects: from memory, from the store, or rendered now, by one caller for
 * all that want it. `isOnBudget` charges new renditions to the owner's budget.
 * @throws AppError `rate_limited` when it cannot be made in time, `validation_error` when it cannot be made.
 */
export async function obtainRendition(
  service: ImagesService,
  image: Image,
  rendition: Rendition,
  terms: JobTerms,
  { isOnBudget }: { readonly isOnBudget: boolean },
): Promise<RenditionContent> {
  const { renditionMemory, renderBudget } = service;
  const key = keyOf(image, rendition);
  const wanted = { key, image, rendition };
  const remembered = renditionMemory.bytes.get(key);
  if (remembered) return { kind: "bytes", bytes: remembered };
  if (!renditionMemory.underWay.has(key)) {
    const stored = await findStoredRendition(service, key);
    if (stored) return stored;
    if (isForLater(service, wanted, terms)) return { kind: "later" };
    if (isOnBudget) {
      renderBudget.requireLeft(image.accountId);
      renderBudget.spend(image.accountId, expectedMs(service, image, rendition));
    }
  }
  const work = (signal: AbortSignal) => renderUnderLease(service, wanted, { ...terms, signal });
  const bytes = await renditionMemory.underWay.join(key, work, terms.signal);
  return bytes ? { kind: "bytes", bytes } : { kind: "later" };
}

/** Renders under a lease, which only saves work: without it, or with a slow holder, the same bytes are made twice. */
async function renderUnderLease(service: ImagesService, wanted: Wanted, terms: JobTerms): Promise<Buffer | null> {
  const { renditionMemory, cache, log } = service;
  const { key } = wanted;
  const lease = await cache.lease(`render:${key}`, { durationMs: leaseMs });
  if (!lease && cache.state === "up") {
    const theirs = await waitForOther(service, key, terms);
    if (theirs) return theirs;
  }
  let kept: Promise<void> = Promise.resolve();
  try {
    const made = await makeRendition(service, wanted, terms);
    if (!made) return null;
    renditionMemory.bytes.set(key, made.bytes);
    // Stored in the background for later callers, who may find it missing: this one already has the bytes.
    kept = keepRendition(service, wanted, made).catch((error: unknown) =>
      log.warn({ error, key }, "storing a rendition failed"),
    );
    return made.bytes;
  } finally {
    void kept.then(() => lease?.release());
  }
}

/** Waits for another instance, which announces the stored rendition in the cache, so that the store is not polled. */
async function waitForOther(
  service: ImagesService,
  key: string,
  { signal, endsByMs }: JobTerms,
): Promise<Buffer | null> {
  const { clock } = service;
  const until = Math.min(clock.steadyMs() + waitForOtherMs, endsByMs ?? Number.POSITIVE_INFINITY);
  while (clock.steadyMs() < until) {
    await sleep(lookAgainMs, undefined, { signal });
    if (await isAnnounced(service, key)) return readAnnounced(service, key);
  }
  return null;
}
