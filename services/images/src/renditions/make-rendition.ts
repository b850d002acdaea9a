import { readFile, rm } from "node:fs/promises";
import { AppError, seconds } from "@signalbox/core";
import { type JobTerms, planGeometry, type Rendition, renderRendition } from "@signalbox/imaging";
import { originalKey } from "../blobs/blob-keys.ts";
import { beginAttempt, endAttempt } from "../blobs/rendition-store.ts";
import type { ImagesService } from "../context/images-service.ts";
import { factsOf, type Image } from "../state/image.ts";
import { imageLimits } from "./render-terms.ts";
import type { RenditionFile, Wanted } from "./stored-renditions.ts";

/**
 * Longest rendering while a caller waits; no larger output and no larger progressive original is rendered that way
 * either.
 */
const waitedForMs = seconds(15);
const outputPixelsMax = 50_000_000;
const progressivePixelsMax = 40_000_000;

interface Made extends RenditionFile {
  readonly bytes: Buffer;
}

/** Returns true for a rendition that takes too long for a waiting caller. */
export function isForLater(service: ImagesService, { key, image, rendition }: Wanted, { limitMs }: JobTerms): boolean {
  if (service.renditionMemory.slow.has(key)) return true;
  const facts = factsOf(image);
  const { output } = planGeometry(facts, rendition);
  if (output.width * output.height > outputPixelsMax) return true;
  const decoded = rendition.overlay ? [facts, rendition.overlay.facts] : [facts];
  if (decoded.some((one) => one.isProgressive && one.width * one.height > progressivePixelsMax)) return true;
  return expectedMs(service, image, rendition) > Math.min(waitedForMs, limitMs);
}

/** Estimates the time that rendering takes. */
export function expectedMs(service: ImagesService, image: Image, rendition: Rendition): number {
  const [facts, limits] = [factsOf(image), imageLimits(service)];
  return service.imagePool.expect({ kind: "render", source: "", target: "", facts, rendition, limits }).ms;
}

/**
 * Makes a rendition, as a file too, which belongs to the caller; null when it took too long after all.
 * @throws AppError `rate_limited`, `validation_error` when it cannot be made, `unavailable`.
 */
export async function makeRendition(service: ImagesService, wanted: Wanted, terms: JobTerms): Promise<Made | null> {
  const { pool, objectFiles, renditionMemory, clock } = service;
  const { key, image } = wanted;
  let attempt = 0;
  // Not earlier: work that still waits for its turn when this process is killed has done no harm.
  const beforeHandOver = async () => {
    const begun = await beginAttempt(pool, key, image, clock.now());
    if (begun === null) throw refusedForNow();
    attempt = begun;
  };
  const takeBack = () => (attempt > 0 ? endAttempt(pool, key) : undefined);
  const path = objectFiles.newPath();
  const made = await renderOriginal(service, wanted, path, { ...terms, beforeHandOver }).catch(
    async (error: unknown) => {
      await rm(path, { force: true });
      await takeBack();
      throw error;
    },
  );
  if (made?.outcome === "rendered") return { bytes: await readFile(path), path, file: made.result };
  await rm(path, { force: true });
  if (made === null) throw unavailable("The image's bytes are missing.", image.id, 5);
  const isOverdue = made.outcome === "interrupted" && clock.steadyMs() >= (terms.endsByMs ?? Number.POSITIVE_INFINITY);
  if ((made.outcome === "too-slow" || isOverdue) && attempt === 1) {
    renditionMemory.slow.set(key, true);
    return null;
  }
  if (made.outcome !== "broken")
    throw attempt > 1 ? refusedForNow() : unavailable("The image could not be rendered this time.", made.outcome, 2);
  await takeBack();
  throw new AppError("validation_error", "The image is damaged and cannot be shown in this form.", {
    cause: new Error(made.reason),
  });
}

/** Renders the original into the file `target`; null when its bytes are missing. */
function renderOriginal(service: ImagesService, { image, rendition }: Wanted, target: string, terms: JobTerms) {
  const { configuration, objectFiles, imagePool, tracer } = service;
  const [facts, limits] = [factsOf(image), imageLimits(service)];
  // Only renditions are refused for a long wait: a refused upload would be sent again.
  const waitMaxMs = configuration.get("images.render.wait-max");
  const job = { kind: "render", target, facts, rendition, limits } as const;
  const render = (files: { readonly source: string; readonly overlay?: string }) =>
    tracer.span("render image", { attributes: { "image.format": rendition.format } }, () =>
      renderRendition(imagePool, { ...job, ...files }, { ...terms, waitMaxMs }),
    );
  const { accountId } = image;
  const renderFile = (source: string) => {
    if (!rendition.overlay) return render({ source });
    const key = originalKey({ accountId, sha256: rendition.overlay.sha256 });
    return objectFiles.withFile(key, (overlay) => render({ source, overlay }), terms.signal);
  };
  return objectFiles.withFile(originalKey(image), renderFile, terms.signal);
}

function refusedForNow(): AppError {
  return new AppError(
    "validation_error",
    "The image cannot be shown in this form: rendering it failed more than once.",
  );
}

const unavailable = (message: string, reason: string, retryAfterSeconds: number): AppError =>
  new AppError("unavailable", message, { cause: new Error(reason), retryAfterSeconds });
