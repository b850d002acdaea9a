import { draft } from "@signalbox/contracts";
import { hours, newId } from "@signalbox/core";
import { canonicalRendition, keptFormat, namedBoxes, type Rendition } from "@signalbox/imaging";
import { keyOf, originalKey } from "../blobs/blob-keys.ts";
import { factsOf, type Image } from "../images/image.ts";

interface Job {
  readonly id: string;
  readonly attempt: number;
}

interface Wanted {
  /** Null for a rendition that is not a named variant. */
  readonly name: string | null;
  readonly rendition: Rendition;
}

/** However often a job was lost, it is asked for again this soon. */
const longestWaitMs = hours(1);

/**
 * How long a job that goes out now is waited for before it counts as lost. Each time it goes out it is waited for twice as
 * long: a worker that is behind must not drown in copies.
 */
export function renderWaitMs(issues: number, lostAfterMs: number): number {
  return Math.min(lostAfterMs * 2 ** (issues - 1), longestWaitMs);
}

/** The job that makes an image's named variants. */
export function renderRequested(image: Image) {
  return jobFor(image, { id: image.renderJobId, attempt: image.renderAttempt }, namedRenditions(image));
}

/**
 * The job that makes the named crops anew, and the record that waits for it. It is that of the image while it is being
 * processed; later its answer changes no status, and a request that comes before it makes its own crop.
 */
export function recropped(image: Image, now: Date) {
  const next = { ...image, renderJobId: newId("job", now.getTime()), renderAttempt: 1, renderIssues: 1 };
  const saved = image.status === "processing" ? next : image;
  return { saved, jobs: image.status === "failed" ? [] : [renderRequested(next)] };
}

/** The job that makes all named variants again, and the record that waits for it. */
export function renderedAgain(before: Image, now: Date) {
  if (before.status !== "failed") {
    const { saved: image, jobs } = recropped(before, now);
    return { image, jobs, changed: [] };
  }
  const image: Image = {
    ...before,
    ...{ status: "processing", failureCode: null, failedAt: null },
    ...{ renderJobId: newId("job", now.getTime()), renderAttempt: 1, renderIssues: 1 },
    ...{ revision: before.revision + 1n, updatedAt: now },
  };
  return { image, jobs: [renderRequested(image)], changed: ["status", "failure"] };
}

/** The job that makes one rendition somebody asked for and could not wait for. */
export function singleRenderRequested(image: Image, jobId: string, rendition: Rendition) {
  return jobFor(image, { id: jobId, attempt: 1 }, [{ name: null, rendition }]);
}

/**
 * What is made of every image before anyone asks: each named variant in the format that every client can show, and the
 * thumbnail as WebP too, since lists of images are what browsers load most. The thumbnail first.
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

function jobFor(image: Image, job: Job, wanted: readonly Wanted[]) {
  const { id, accountId, sha256, mimeType, sizeBytes, focalPoint } = image;
  return draft("image.render_requested", {
    subject: id,
    accountId,
    data: {
      job_id: job.id,
      image_id: id,
      attempt: job.attempt,
      original: { key: originalKey(image), mime_type: mimeType, sha256, size_bytes: sizeBytes },
      focal_point: focalPoint,
      renditions: wanted.map(({ name, rendition }) => {
        const { focalPoint: _point, ...box } = rendition;
        return { name, key: keyOf(image, rendition), ...box };
      }),
      placeholder: image.placeholder === null,
    },
  });
}
