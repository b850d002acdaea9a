import { readFile, stat, writeFile } from "node:fs/promises";
import type { Metadata } from "sharp";
import { spaceOfProfile } from "../colour/colour-profile.ts";
import type { RenderedFile, RenderJob } from "../formats/image-jobs.ts";
import { stripMetadata } from "./strip-metadata.ts";

/** Metadata of usual files are shorter. */
const metadataMax = 512 * 1024;

/**
 * Replaces a rendition of all pixels by those of the original, without its metadata, where these are lighter: encoding
 * them again would add bytes and lose detail.
 */
export async function preferLighterOriginal(job: RenderJob, read: Metadata, made: RenderedFile): Promise<RenderedFile> {
  const { source, target, facts } = job;
  if ((await stat(source)).size > made.sizeBytes + metadataMax) return made;
  if (!isShownAsItIs(read, facts.frames)) return made;
  const stripped = await stripMetadata(await readFile(source), facts.format);
  if (!stripped || stripped.length >= made.sizeBytes) return made;
  await writeFile(target, stripped);
  return { ...made, sizeBytes: stripped.length };
}

/** Returns true where neither orientation nor profile changes the pixels. Browsers ignore the orientation of an animation. */
function isShownAsItIs({ orientation = 1, icc, space }: Metadata, frames: number): boolean {
  const isSrgb = icc === undefined || (spaceOfProfile(icc) === "srgb" && /s\0?R\0?G\0?B/.test(icc.toString("latin1")));
  return isSrgb && space !== "cmyk" && (orientation === 1 || frames > 1);
}
