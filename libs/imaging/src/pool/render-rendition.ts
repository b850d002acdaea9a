import { rm } from "node:fs/promises";
import { planGeometry } from "../formats/geometry.ts";
import type { JobOutcome, RenderedFile, RenderJob } from "../formats/image-jobs.ts";
import { overlayBox } from "../formats/overlay.ts";
import { canonicalRendition } from "../formats/rendition.ts";
import type { Size } from "../formats/size.ts";
import type { ImagePool, JobTerms } from "./image-pool.ts";

/**
 * Renders a rendition. Its overlay is a job of its own and comes first: it is bounded, converted and scaled like every
 * image, so that the second job sees no more of it than the pixels that are shown.
 */
export async function renderRendition(
  pool: ImagePool,
  job: RenderJob,
  terms: JobTerms,
): Promise<JobOutcome<RenderedFile>> {
  const { overlay } = job.rendition;
  if (!overlay) return pool.run(job, terms);
  if (job.overlay === undefined) throw new Error("the file of the overlay is missing");
  const { facts } = overlay;
  const { output } = planGeometry(job.facts, { ...job.rendition, pad: undefined });
  const shape = { ...overlayBox(overlay, output), fit: "inside", enlarge: true, focalPoint: null } as const;
  const rendition = canonicalRendition({ ...shape, format: "png", quality: null }, facts);
  const target = `${job.target}-overlay`;
  const { limits } = job;
  try {
    const picture = await pool.run({ kind: "render", source: job.overlay, target, facts, rendition, limits }, terms);
    if (picture.outcome !== "rendered") return picture;
    const scaled = { ...overlay, facts: factsOfPicture(picture.result) };
    // The first job has recorded the attempt.
    const { beforeHandOver: _, ...laterTerms } = terms;
    return await pool.run({ ...job, overlay: target, rendition: { ...job.rendition, overlay: scaled } }, laterTerms);
  } finally {
    await rm(target, { force: true });
  }
}

const factsOfPicture = ({ width, height }: Size) =>
  ({ format: "png", mimeType: "image/png", width, height, frames: 1, hasAlpha: true, isProgressive: false }) as const;
