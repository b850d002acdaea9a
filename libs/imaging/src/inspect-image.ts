import { type ImageSource, openImage } from "./codec.ts";
import { type ImageFacts, type ImageLimits, type LimitProblem, limitProblem, pixelsMaxOf } from "./image-limits.ts";
import { computePlaceholder } from "./placeholder.ts";
import { type SniffedFile, sniffImage } from "./sniff-image.ts";

export type Inspection =
  | { readonly outcome: "accepted"; readonly facts: ImageFacts; readonly placeholder: string }
  | { readonly outcome: "not-accepted"; readonly mimeType: string; readonly advice: string }
  | { readonly outcome: "over-limit"; readonly problem: LimitProblem }
  | { readonly outcome: "broken"; readonly message: string };

/**
 * Judges a file as an original: its signature, the claims of its header against the limits, and then one whole decode of
 * its first frame, which finds truncated and damaged files and gives the placeholder. `head` is its first bytes.
 */
export async function inspectImage(source: ImageSource, head: Uint8Array, limits: ImageLimits): Promise<Inspection> {
  const sniffed = sniffImage(head);
  if (sniffed.kind === "unknown") return { outcome: "broken", message: "The file is not an image that we know." };
  if (sniffed.kind === "refused") return { outcome: "not-accepted", ...sniffed };
  const facts = await readFacts(source, sniffed, limits);
  if (!facts) return { outcome: "broken", message: "The image cannot be read." };
  const problem = limitProblem(facts, limits);
  if (problem) return { outcome: "over-limit", problem };
  try {
    return { outcome: "accepted", facts, placeholder: await computePlaceholder(source, facts, limits) };
  } catch {
    // The codec's own words name its insides and change with its versions.
    return { outcome: "broken", message: "The image is damaged or incomplete." };
  }
}

/** Reads the header alone, about a tenth of a millisecond. Null when there is nothing to read. */
export async function readFacts(
  source: ImageSource,
  { format, mimeType }: Extract<SniffedFile, { kind: "accepted" }>,
  limits: ImageLimits,
): Promise<ImageFacts | null> {
  try {
    // Twice the limit, so that a file over it is measured and refused by its number, not by the decoder's error.
    const read = await openImage(source, { pixelsMax: 2 ** 40 }).metadata();
    const { width, height } = read.autoOrient;
    const frames = format === "gif" || format === "webp" ? (read.pages ?? 1) : 1;
    if (width < 1 || height < 1 || frames < 1 || pixelsMaxOf(format, limits) < 1) return null;
    return { format, mimeType, width, height, frames, hasAlpha: read.hasAlpha, isProgressive: read.isProgressive };
  } catch {
    return null;
  }
}
