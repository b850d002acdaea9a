import { readFile, rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cache } from "@signalbox/cache";
import { AppError, type Clock, hours, minutes, seconds } from "@signalbox/core";
import {
  type ImageLimits,
  type ImagePool,
  type JobTerms,
  outputTraits,
  planGeometry,
  type RenderedFile,
  type Rendition,
} from "@signalbox/imaging";
import type { ObjectFiles, ObjectStore, Pool } from "@signalbox/storage";
import type { Logger, Tracer } from "@signalbox/telemetry";
import { LRUCache } from "lru-cache";
import { keyOf, originalKey } from "../blobs/blob-keys.ts";
import { factsOf, type Image } from "../images/image.ts";
import type { BytePart } from "./byte-range.ts";
import type { KeptRenditions } from "./kept-renditions.ts";
import type { RenderBudget } from "./render-budget.ts";
import type { RenditionMemory } from "./rendition-memory.ts";
import type { RenditionStore } from "./rendition-store.ts";
import { SharedWork } from "./shared-work.ts";

export type RenditionContent =
  | { readonly kind: "bytes"; readonly bytes: Buffer }
  /** A stream that is opened once, in whole or in part, or not at all. */
  | { readonly kind: "stored"; readonly size: number; open(part?: BytePart): Promise<Readable>; leave(): void }
  /** Missing, and too slow to make while a caller waits. */
  | { readonly kind: "later" };

/**
 * Longest rendering while a caller waits; no larger output and no larger progressive original is rendered that way
 * either.
 */
const waitedForMs = seconds(15);
const outputPixelsMax = 50_000_000;
const progressivePixelsMax = 40_000_000;

interface Dependencies {
  readonly pool: Pool;
  readonly objects: ObjectStore;
  readonly objectFiles: ObjectFiles;
  readonly renditionStore: RenditionStore;
  readonly memory: RenditionMemory;
  readonly kept: KeptRenditions;
  readonly renderBudget: RenderBudget;
  readonly cache: Cache;
  readonly imagePool: ImagePool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly imageLimits: () => ImageLimits;
  /**
   * Longest wait of a quick rendition for its turn. Uploads wait as long as their callers: refused ones would be sent
   * again.
   */
  readonly waitMaxMs: () => number;
}

interface Wanted {
  readonly key: string;
  readonly image: Image;
  readonly rendition: Rendition;
}

/** Longest wait for another instance before the work is done twice, and the interval of looking into the cache. */
const waitForOtherMs = seconds(10);
const lookAgainMs = 25;
const leaseMs = seconds(30);
const announcedMs = minutes(1);

/** Provides renditions: from memory, from the store, or rendered now, by one caller for all that want it. */
export class Renderer {
  readonly #parts: Dependencies;
  /** Null for waiting callers when the work took too long after all. */
  readonly #underWay = new SharedWork<Buffer | null>();
  /** Renditions that took too long although they were expected to be quick: the next caller does not wait in vain. */
  readonly #slow = new LRUCache<string, true>({ max: 10_000, ttl: hours(1) });

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
    const { memory, objects, renderBudget } = this.#parts;
    const key = keyOf(image, rendition);
    const remembered = memory.get(key);
    if (remembered) return { kind: "bytes", bytes: remembered };
    if (!this.#underWay.has(key)) {
      const stored = await objects.get(key);
      if (stored) return this.#showStored(key, stored);
      if (this.#slow.has(key) || this.#isForLater(image, rendition, terms)) return { kind: "later" };
      if (isOnBudget) {
        renderBudget.requireLeft(image.accountId);
        renderBudget.spend(image.accountId, this.expectMs(image, rendition));
      }
    }
    const work = (signal: AbortSignal) => this.#renderUnderLease({ key, image, rendition }, { ...terms, signal });
    const bytes = await this.#underWay.join(key, work, terms.signal);
    return bytes ? { kind: "bytes", bytes } : { kind: "later" };
  }

  #isForLater(image: Image, rendition: Rendition, { limitMs }: JobTerms): boolean {
    const facts = factsOf(image);
    const { output } = planGeometry(facts, rendition);
    if (output.width * output.height > outputPixelsMax) return true;
    if (facts.isProgressive && facts.width * facts.height > progressivePixelsMax) return true;
    return this.expectMs(image, rendition) > Math.min(waitedForMs, limitMs);
  }

  /** Estimates the time that rendering takes. */
  expectMs(image: Image, rendition: Rendition): number {
    const { imagePool, imageLimits } = this.#parts;
    const facts = factsOf(image);
    return imagePool.expect({ kind: "render", source: "", target: "", facts, rendition, limits: imageLimits() }).ms;
  }

  async #showStored(key: string, stored: { stream: Readable; size: number }): Promise<RenditionContent> {
    const { memory, kept } = this.#parts;
    kept.seen(key);
    const { stream, size } = stored;
    if (!memory.takes(size)) {
      const open = (part?: BytePart) => this.#openPart(key, stream, part);
      return { kind: "stored", size, open, leave: () => stream.destroy() };
    }
    const bytes = await bytesOf(stored.stream);
    memory.add(key, bytes);
    return { kind: "bytes", bytes };
  }

  async #openPart(key: string, whole: Readable, part: BytePart | undefined): Promise<Readable> {
    if (!part) return whole;
    whole.destroy();
    const stored = await this.#parts.objects.get(key, { range: part });
    if (!stored) throw new AppError("unavailable", "The bytes are missing.", { retryAfterSeconds: 1 });
    return stored.stream;
  }

  /** Renders under a lease, which only saves work: without it, or with a slow holder, the same bytes are made twice. */
  async #renderUnderLease(wanted: Wanted, terms: JobTerms): Promise<Buffer | null> {
    const { cache, log } = this.#parts;
    const { key } = wanted;
    const lease = await cache.lease(`render:${key}`, { durationMs: leaseMs });
    if (!lease && cache.state === "up") {
      const theirs = await this.#waitForOther(key, terms);
      if (theirs) return theirs;
    }
    let kept: Promise<void> = Promise.resolve();
    try {
      const made = await this.#make(wanted, terms);
      if (!made) return null;
      const { bytes, file, path } = made;
      // Stored in the background for later callers, who may find it missing: this one already has the bytes.
      kept = this.#keep(wanted, file, path).catch((error: unknown) =>
        log.warn({ error, key }, "storing a rendition failed"),
      );
      return bytes;
    } finally {
      void kept.then(() => lease?.release());
    }
  }

  /** Waits for another instance, which announces the stored rendition in the cache, so that the store is not polled. */
  async #waitForOther(key: string, { signal, endsByMs }: JobTerms): Promise<Buffer | null> {
    const { clock, cache, objects } = this.#parts;
    const until = Math.min(clock.steadyMs() + waitForOtherMs, endsByMs ?? Number.POSITIVE_INFINITY);
    while (clock.steadyMs() < until) {
      await sleep(lookAgainMs, undefined, { signal });
      if (!(await cache.get(`made:${key}`))) continue;
      const stored = await objects.get(key);
      return stored ? bytesOf(stored.stream) : null;
    }
    return null;
  }

  async #make({ key, image, rendition }: Wanted, terms: JobTerms) {
    const { imagePool, objectFiles, renditionStore, imageLimits, waitMaxMs, memory, clock, tracer } = this.#parts;
    let attempt = 0;
    // Not earlier: work that still waits for its turn when this process is killed has done no harm.
    const beforeHandOver = async () => {
      attempt = (await renditionStore.beginAttempt(key, image, clock.now())) ?? refuseForNow();
    };
    const takeBack = () => (attempt > 0 ? renditionStore.endAttempt(key) : undefined);
    const path = objectFiles.newPath();
    const [facts, limits] = [factsOf(image), imageLimits()];
    const made = await objectFiles
      .withFile(
        originalKey(image),
        (source) =>
          tracer.span("render image", { attributes: { "image.format": rendition.format } }, () =>
            imagePool.run(
              { kind: "render", source, target: path, facts, rendition, limits },
              { ...terms, waitMaxMs: waitMaxMs(), beforeHandOver },
            ),
          ),
        terms.signal,
      )
      .catch(async (error: unknown) => {
        await rm(path, { force: true });
        await takeBack();
        throw error;
      });
    if (made?.outcome === "rendered") {
      const bytes = await readFile(path);
      memory.add(key, bytes);
      return { bytes, path, file: made.result };
    }
    await rm(path, { force: true });
    if (made === null) throw missing(image);
    if (made.outcome === "too-slow" && attempt === 1) {
      this.#slow.set(key, true);
      return null;
    }
    if (made.outcome !== "broken") throw attempt > 1 ? refusedForNow() : tooMuch(made.outcome);
    await takeBack();
    throw new AppError("validation_error", "The image is damaged and cannot be shown in this form.", {
      cause: new Error(made.reason),
    });
  }

  async #keep({ key, image, rendition }: Wanted, file: RenderedFile, path: string): Promise<void> {
    const { pool, objects, objectFiles, renditionStore, kept, cache, clock } = this.#parts;
    const { mimeType } = outputTraits[rendition.format];
    const { width, height, sizeBytes } = file;
    await objectFiles.put(key, path, { size: sizeBytes, contentType: mimeType, isExpendable: true });
    const stored = { name: null, key, mime_type: mimeType, width, height, size_bytes: sizeBytes };
    const isKept = await renditionStore.save(pool, image, stored, clock.now());
    // The image was deleted and its bytes erased during the rendering.
    if (!isKept) return objects.delete(key);
    await cache.set(`made:${key}`, "1", { expiresInMs: announcedMs });
    await kept.added(image);
  }
}

function refuseForNow(): never {
  throw refusedForNow();
}

function refusedForNow(): AppError {
  return new AppError("validation_error", "The image cannot be shown in this form: making it failed more than once.");
}

function missing({ id }: Image): AppError {
  return new AppError("unavailable", "The image's bytes are missing.", { cause: new Error(id), retryAfterSeconds: 5 });
}

function tooMuch(outcome: string): AppError {
  return new AppError("unavailable", "The image could not be made this time.", {
    retryAfterSeconds: 2,
    cause: new Error(outcome),
  });
}

/** Reads the stream with one copy of the bytes; `buffer` of node:stream/consumers makes three. */
async function bytesOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
