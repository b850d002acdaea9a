import { unshownColours } from "../colour/colour-coding.ts";
import type { FatalOutcome, JobOutcome, Look } from "../formats/image-jobs.ts";
import {
  type ImageFacts,
  type ImageLimits,
  type LimitProblem,
  limitProblem,
  tooManyFrames,
} from "../formats/image-limits.ts";
import { convertAdvice, sniffImage } from "../formats/sniff-image.ts";
import type { ImagePool, JobTerms } from "./image-pool.ts";
import { unshownTiff } from "./tiff-kind.ts";
import { hasMoreFrames } from "./webp-frames.ts";

export type Inspection =
  | ({ readonly outcome: "accepted"; readonly facts: ImageFacts } & Look)
  | { readonly outcome: "not-accepted"; readonly mimeType: string; readonly advice: string }
  | { readonly outcome: "over-limit"; readonly problem: LimitProblem }
  | { readonly outcome: "broken"; readonly message: string }
  /** It crashed the process that inspected it. */
  | { readonly outcome: FatalOutcome };

/** A file, and its first bytes. */
interface InspectedFile {
  readonly path: string;
  readonly head: Uint8Array;
}

/**
 * Judges a file as an original: its signature, the claims of its header against the limits, and then one decode of all
 * frames, which detects truncated and damaged files and produces the placeholder. The header shows the cost of that in
 * advance.
 */
export async function inspectImage(
  pool: ImagePool,
  { path: source, head }: InspectedFile,
  limits: ImageLimits,
  terms: JobTerms,
): Promise<Inspection> {
  const sniffed = sniffImage(head);
  if (sniffed.kind === "unknown") return { outcome: "broken", message: "The file is not an image of a known type." };
  if (sniffed.kind === "refused") return { outcome: "not-accepted", ...sniffed };
  const { format } = sniffed;
  const unshown = format === "tiff" ? await unshownTiff(source) : await unshownColours(source, format);
  if (unshown) return { outcome: "not-accepted", mimeType: sniffed.mimeType, advice: convertAdvice(unshown) };
  if (format === "webp" && (await hasMoreFrames(source, limits.framesMax))) {
    return { outcome: "over-limit", problem: tooManyFrames(limits) };
  }
  const header = await pool.run({ kind: "header", source, format }, terms);
  if (header.outcome !== "rendered") return unreadable(header, "The image cannot be read.");
  const facts = header.result;
  const problem = limitProblem(facts, limits);
  if (problem) return { outcome: "over-limit", problem };
  const look = await pool.run({ kind: "look", source, facts, limits }, terms);
  if (look.outcome !== "rendered") return unreadable(look, "The image is damaged or incomplete.");
  return { outcome: "accepted", facts, ...look.result };
}

function unreadable({ outcome }: Exclude<JobOutcome<unknown>, { outcome: "rendered" }>, message: string): Inspection {
  return outcome === "broken" ? { outcome, message } : { outcome };
}
