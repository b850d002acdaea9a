import { parseAccept } from "./accept.ts";
import { type InputFormat, type OutputFormat, outputTraits } from "./image-formats.ts";
import type { Size } from "./size.ts";

export interface FormatQuestion {
  readonly accept: string | undefined;
  /** The format requested by the caller. */
  readonly requested: OutputFormat | "auto";
  readonly source: { readonly format: InputFormat; readonly frames: number };
  /** The formats enabled in this deployment. */
  readonly offered: readonly OutputFormat[];
  /** The size of the result: not every format supports every size. */
  readonly output: Size;
  /** True when this AVIF may be served now: it is stored, or small enough to be made while the caller waits. */
  readonly avifAtHand: boolean;
}

export type FormatChoice =
  /** `wanted` is a better format that is not available; it is worth making in the background. */
  | { readonly outcome: "chosen"; readonly format: OutputFormat; readonly wanted: OutputFormat | null }
  | { readonly outcome: "not-acceptable" }
  /** Only AVIF is acceptable, and making it now takes too long. */
  | { readonly outcome: "only-later"; readonly format: OutputFormat };

/**
 * Chooses the format of a rendition (CONTRACT §5). An explicit one decides, unless Accept gives it weight 0. Otherwise
 * the original's type stays, unless Accept names WebP or AVIF with at least the same weight: a wildcard never selects
 * them, since clients send wildcards without supporting either.
 */
export function chooseFormat(question: FormatQuestion): FormatChoice {
  const accepted = parseAccept(question.accept);
  const candidates = question.requested === "auto" ? automatic(question) : explicit(question, question.requested);
  const best = candidates[0];
  if (best === undefined) return { outcome: "not-acceptable" };
  if (best !== "avif" || question.avifAtHand) return { outcome: "chosen", format: best, wanted: null };
  const instead = candidates.find((format) => format !== "avif");
  return instead ? { outcome: "chosen", format: instead, wanted: best } : { outcome: "only-later", format: best };

  function explicit({ output, offered }: FormatQuestion, requested: OutputFormat): OutputFormat[] {
    if (!offered.includes(requested)) return [];
    return accepted.refuses(outputTraits[requested].mimeType) || !holds(requested, output) ? [] : [requested];
  }

  /** Lists the candidates, best first. */
  function automatic({ source, output, offered }: FormatQuestion): OutputFormat[] {
    const kept = keptFormat(source.format);
    const weightOf = (format: OutputFormat) => {
      const { mimeType, animation } = outputTraits[format];
      if (!holds(format, output)) return 0;
      if (format === kept) return accepted.weightOf(mimeType);
      if (format !== "webp" && format !== "avif") return accepted.weightOf(mimeType);
      // A still image cannot replace an animation.
      return source.frames > 1 && !animation ? 0 : (accepted.namedWeightOf(mimeType) ?? 0);
    };
    const acceptable = offered.filter((format) => weightOf(format) > 0);
    const byWeight = (formats: OutputFormat[], order: readonly OutputFormat[]) =>
      formats.sort((a, b) => weightOf(b) - weightOf(a) || order.indexOf(a) - order.indexOf(b));
    const modern = ["avif", "webp", kept] as const;
    const first = byWeight(
      acceptable.filter((format) => format === kept || format === "avif" || format === "webp"),
      modern,
    );
    const rest = byWeight(
      acceptable.filter((format) => !first.includes(format)),
      ["jpeg", "png", "gif"],
    );
    return [...first, ...rest];
  }
}

/** Returns the default format of an original: its own, where browsers can show it. */
export function keptFormat(format: InputFormat): OutputFormat {
  return format === "tiff" || format === "heic" ? "jpeg" : format;
}

function holds(format: OutputFormat, { width, height }: Size): boolean {
  return Math.max(width, height) <= outputTraits[format].sideMax;
}
