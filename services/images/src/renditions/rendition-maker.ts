import { readFile, rm } from "node:fs/promises";
import { AppError, type Clock, entryLimit, hours, seconds } from "@signalbox/core";
import {
  type ImageLimits,
  type ImagePool,
  type JobTerms,
  planGeometry,
  type RenderedFile,
  type Rendition,
} from "@signalbox/imaging";
import type { ObjectFiles } from "@signalbox/storage";
import type { Tracer } from "@signalbox/telemetry";
import { LRUCache } from "lru-cache";
import { originalKey } from "../blobs/blob-keys.ts";
import type { RenditionStore } from "../blobs/rendition-store.ts";
import { factsOf, type Image } from "../images/image.ts";
import type { Wanted } from "./stored-renditions.ts";

/**
 * Longest rendering while a caller waits; no larger output and no larger progressive original is rendered that way
 * either.
 */
const waitedForMs = seconds(15);
const outputPixelsMax = 50_000_000;
const progressivePixelsMax = 40_000_000;

interface Dependencies {
  readonly objectFiles: ObjectFiles;
  readonly renditionStore: Pick<RenditionStore, "beginAttempt" | "endAttempt">;
  readonly imagePool: ImagePool;
  readonly clock: Clock;
  readonly tracer: Tracer;
  readonly imageLimits: () => ImageLimits;
  /**
   * Longest wait of a quick rendition for its turn. Uploads wait as long as their callers: refused ones would be sent
   * again.
   */
  readonly waitMaxMs: () => number;
}

interface Made {
  readonly bytes: Buffer;
  readonly path: string;
  readonly file: RenderedFile;
}

/** The times of renditions, and their making in the processes of the pool. */
export class RenditionMaker {
  readonly #parts: Dependencies;
  /** Renditions that took too long although they were expected to be quick: the next caller does not wait in vain. */
  readonly #slow = new LRUCache<string, true>({ ...entryLimit(10_000), ttl: hours(1) });

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Returns true for a rendition that takes too long for a waiting caller. */
  isForLater({ key, image, rendition }: Wanted, { limitMs }: JobTerms): boolean {
    if (this.#slow.has(key)) return true;
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

  /**
   * Makes a rendition, as a file too, which belongs to the caller; null when it took too long after all.
   * @throws AppError `rate_limited`, `validation_error` when it cannot be made, `unavailable`.
   */
  async make({ key, image, rendition }: Wanted, terms: JobTerms): Promise<Made | null> {
    const { imagePool, objectFiles, renditionStore, imageLimits, waitMaxMs, clock, tracer } = this.#parts;
    let attempt = 0;
    // Not earlier: work that still waits for its turn when this process is killed has done no harm.
    const beforeHandOver = async () => {
      const begun = await renditionStore.beginAttempt(key, image, clock.now());
      if (begun === null) throw refusedForNow();
      attempt = begun;
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
    if (made?.outcome === "rendered") return { bytes: await readFile(path), path, file: made.result };
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
