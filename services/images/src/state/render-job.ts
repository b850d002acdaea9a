import { draft } from "@signalbox/contracts";
import { hours } from "@signalbox/core";
import { canonicalRendition, keptFormat, namedBoxes, type Rendition } from "@signalbox/imaging";
import { keyOf, originalKey } from "../blobs/blob-keys.ts";
import { factsOf, type Image, newJob } from "./image.ts";

interface Wanted {
  /** Null for a rendition that is not a named variant. */
  readonly name: string | null;
  readonly rendition: Rendition;
}

/** Longest time until a lost job is sent again. */
const longestWaitMs = hours(1);

/**
 * Computes the time after which a job that is sent now counts as lost. It doubles with each issue: a slow worker must
 * not drown in copies.
 */
export function renderWaitMs(issues: number, lostAfterMs: number): number {
  return Math.min(lostAfterMs * 2 ** (issues - 1), longestWaitMs);
}

/** Drafts the job that renders an image's named variants. */
export function renderRequested(image: Image) {
  return jobFor(image, image.renderJobId, image.renderAttempt, namedRenditions(image));
}

/**
 * Drafts the job that renders the named crops again, and the record that waits for it. It becomes the image's job while
 * the image is being processed; later its answer changes no status, and an earlier request renders its own crop.
 */
export function recropped(image: Image, now: Date) {
  const next = { ...image, ...newJob(now) };
  const saved = image.status === "processing" ? next : image;
  return { saved, jobs: image.status === "failed" ? [] : [renderRequested(next)] };
}

/** Drafts the job that renders all named variants again, and the record that waits for it. */
export function renderedAgain(before: Image, now: Date) {
  if (before.status !== "failed") {
    const { saved: image, jobs } = recropped(before, now);
    return { image, jobs, changed: [] };
  }
  const image: Image = {
    ...before,
    status: "processing",
    failureCode: null,
    failedAt: null,
    ...newJob(now),
    revision: before.revision + 1n,
    updatedAt: now,
  };
  return { image, jobs: [renderRequested(image)], changed: ["status", "failure"] };
}

/** Drafts the job of one requested rendition that takes too long to wait for. */
export function singleRenderRequested(image: Image, jobId: string, rendition: Rendition) {
  return jobFor(image, jobId, 1, [{ name: null, rendition }]);
}

/**
 * Lists the renditions made of every image in advance: each named variant in the format that every client can show, and
 * the thumbnail as WebP too, since lists of images are what browsers load most. The thumbnail first.
 */
function namedRenditions(image: Image): Wanted[] {
  const facts = factsOf(image);
  const kept = keptFormat(facts.format);
  return Object.entries(namedBoxes).flatMap(([name, box]) => {
    const formats = name === "thumbnail" && kept !== "webp" ? ([kept, "webp"] as const) : [kept];
    return formats.map((format) => {
      const wanted = { ...box, focalPoint: image.focalPoint, format, quality: null };
      return { name, rendition: canonicalRendition(wanted, facts) };
    });
  });
}

function jobFor(image: Image, jobId: string, attempt: number, wanted: readonly Wanted[]) {
  const { id, accountId, sha256, mimeType, sizeBytes, focalPoint } = image;
  // Read by services/image-worker (`answer-job.ts`), which answers with `image.rendered`: `consumers.ts` here.
  return draft("image.render_requested", {
    subject: id,
    accountId,
    data: {
      job_id: jobId,
      image_id: id,
      attempt,
      original: { key: originalKey(image), mime_type: mimeType, sha256, size_bytes: sizeBytes },
      focal_point: focalPoint,
      renditions: wanted.map(({ name, rendition }) => {
        const { focalPoint: _point, overlay, ...box } = rendition;
        const key = keyOf(image, rendition);
        if (!overlay) return { name, key, ...box };
        const { facts: _facts, ...above } = overlay;
        return { name, key, ...box, overlay: { key: originalKey({ accountId, sha256: above.sha256 }), ...above } };
      }),
      placeholder: image.placeholder === null,
    },
  });
}
