import { appendFile, copyFile, rm } from "node:fs/promises";
import type { ImageJob, LookJob, RenderJob } from "../formats/image-jobs.ts";
import { pixelsMaxOf } from "../formats/image-limits.ts";
import { openImage } from "./codec.ts";

/** In the child's own folder, where one job runs at a time. */
const mendedPath = "mended.jpg";
const endMarker = Buffer.from([0xff, 0xd9]);

/**
 * Runs a job, and once more on a copy with an end marker when the JPEG ends too early. Browsers show a file that lacks
 * the marker alone; by the copy the decoder warns where pixels are lost too.
 */
export async function withEndMarker<Result>(job: ImageJob, run: (job: ImageJob) => Promise<Result>): Promise<Result> {
  try {
    return await run(job);
  } catch (error) {
    if (!/premature end of JPEG/.test((error as Error).message)) throw error;
  }
  await copyFile(job.source, mendedPath);
  try {
    await appendFile(mendedPath, endMarker);
    const mended = { ...job, source: mendedPath };
    if (mended.kind !== "header") await requireAllPixels(mended);
    return await run(mended);
  } finally {
    await rm(mendedPath, { force: true });
  }
}

/** Decodes up to the last row, without the shortcuts of a smaller picture. Throws when pixels are lost. */
async function requireAllPixels({ source, facts, limits }: LookJob | RenderJob): Promise<void> {
  const opening = { pixelsMax: pixelsMaxOf(facts.format, limits), isStrict: true };
  const { width, height } = await openImage(source, opening).metadata();
  const lastRow = { left: 0, top: height - 1, width, height: 1 };
  await openImage(source, opening).extract(lastRow).raw().toBuffer();
}
