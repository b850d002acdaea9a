import type { Size } from "./geometry.ts";
import { planGeometry } from "./geometry.ts";
import type { InputFormat, OutputFormat } from "./image-formats.ts";
import { outputTraits } from "./image-formats.ts";
import type { ImageFacts } from "./image-limits.ts";
import type { Rendition } from "./rendition.ts";

/** CPU milliseconds per megapixel, measured on one 2-vCPU machine; only their ratios matter. */
const decodeCost: Readonly<Record<InputFormat, number>> = { jpeg: 1.5, png: 6, gif: 6, webp: 8, avif: 25, tiff: 6 };
const encodeCost: Readonly<Record<OutputFormat, number>> = { jpeg: 18, png: 26, webp: 45, avif: 270, gif: 90 };

const megapixels = ({ width, height }: Size) => (width * height) / 1_000_000;

/** Estimates the cost of a rendition in CPU milliseconds. For admission and budgets, not for clocks. */
export function renderCost(facts: ImageFacts, rendition: Rendition): number {
  const frames = facts.frames > 1 && outputTraits[rendition.format].animation ? facts.frames : 1;
  const { output } = planGeometry(facts, rendition);
  const decode = decodeCost[facts.format] * (facts.isProgressive ? 4 : 1) * megapixels(facts);
  return 1 + frames * (decode + encodeCost[rendition.format] * megapixels(output));
}

/** Estimates the cost of one look at a whole original. */
export function inspectCost(bytes: number): number {
  return 1 + bytes / 100_000;
}
